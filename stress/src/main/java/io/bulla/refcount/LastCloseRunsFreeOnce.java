// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// RefCount 3: of closes at the same time, one is the last, and it alone frees.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "freed once, no holder is counted")
@Outcome(expect = FORBIDDEN)
@State
public class LastCloseRunsFreeOnce {

    private final Thing thing = new Thing();
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();

    @Actor
    public void one() {
        first.close();
    }

    @Actor
    public void two() {
        second.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = thing.frees.get();
        result.r2 = (int) thing.holders();
    }
}
