// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.SealedBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// What waits for a subscriber that leaves while its fan-out is closed is given back, once, and its transport is
/// closed once at most.
@JCStressTest
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "it left first")
@Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "it was closed first")
@Outcome(expect = FORBIDDEN)
@State
public class LeaveBesideClose {

    private final Counted transport = new Counted(false);
    private final Fanout feed = Fanout.builder().build();
    private final Subscription reader = feed.subscribe(transport);
    private final SealedBuffer message = transport.message();

    {
        Counted.publish(feed, message);
    }

    @Actor
    public void leaver() {
        reader.leave();
    }

    @Actor
    public void closer() {
        feed.close();
    }

    @Arbiter
    public void judge(III_Result result) {
        message.close();
        result.r1 = transport.releases.get();
        result.r2 = transport.ends.get();
        result.r3 = (int) feed.queued() + feed.figures().subscribers() + reader.queued();
    }
}
