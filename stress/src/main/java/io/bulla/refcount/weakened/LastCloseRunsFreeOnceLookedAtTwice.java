// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

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

/// Twin of `LastCloseRunsFreeOnce` that lacks the result of the step: it takes one away, then looks again.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "freed once")
@Outcome(id = "2", expect = ACCEPTABLE_INTERESTING, desc = "both saw zero: freed twice")
@Outcome(expect = FORBIDDEN)
@State
public class LastCloseRunsFreeOnceLookedAtTwice {

    private final AtomicInteger count = new AtomicInteger(2);
    private final AtomicInteger frees = new AtomicInteger();

    private void release() {
        count.decrementAndGet();
        if (count.get() == 0) {
            frees.incrementAndGet();
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
        result.r1 = frees.get();
    }
}
