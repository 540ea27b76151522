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

/// Twin of `EventsThenClose` whose countdown reads, then writes.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "closed once, after both events")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "an event was lost: never closed")
@Outcome(id = "2", expect = ACCEPTABLE_INTERESTING, desc = "closed twice")
@Outcome(expect = FORBIDDEN)
@State
public class EventsThenCloseWithoutAtomicStep {

    private volatile int waiting = 2;
    private final AtomicInteger closes = new AtomicInteger();

    private void happened() {
        int left = waiting - 1;
        waiting = left;
        if (left == 0) {
            closes.incrementAndGet();
        }
    }

    @Actor
    public void accepted() {
        happened();
    }

    @Actor
    public void notRead() {
        happened();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = closes.get();
    }
}
