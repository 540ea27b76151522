// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Turns: a subscriber that comes while its fan-out is closed is closed, once.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "by the close, or as it came")
@Outcome(expect = FORBIDDEN)
@State
public class SubscribeBesideClose {

    private final Counted transport = new Counted(true);
    private final Fanout feed = Fanout.builder().build();

    @Actor
    public void subscriber() {
        feed.subscribe(transport);
    }

    @Actor
    public void closer() {
        feed.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = transport.ends.get();
        result.r2 = feed.figures().subscribers();
    }
}
