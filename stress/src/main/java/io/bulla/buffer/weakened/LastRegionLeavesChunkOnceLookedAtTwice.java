// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `LastRegionLeavesChunkOnce` that lacks the result of the step: it takes one away, then looks again.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "left once")
@Outcome(id = "2", expect = ACCEPTABLE_INTERESTING, desc = "left twice: another block's claim is gone")
@Outcome(expect = FORBIDDEN)
@State
public class LastRegionLeavesChunkOnceLookedAtTwice {

    private final AtomicInteger regions = new AtomicInteger(2);
    private final AtomicInteger leaves = new AtomicInteger();

    private void release() {
        regions.decrementAndGet();
        if (regions.get() == 0) {
            leaves.incrementAndGet();
        }
    }

    @Actor
    public void one() {
        release();
    }

    @Actor
    public void two() {
        release();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = leaves.get();
    }
}
