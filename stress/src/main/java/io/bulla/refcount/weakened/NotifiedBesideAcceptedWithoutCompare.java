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

/// Twin of `NotifiedBesideAccepted` that writes the next state without comparing.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "closed once, after both events")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "an event was lost: never closed")
@Outcome(expect = FORBIDDEN)
@State
public class NotifiedBesideAcceptedWithoutCompare {

    private static final int ONE_OWED = 4;
    private static final int ENDED = 2;
    private static final int CALLING = 1;

    private volatile int state = CALLING;
    private final AtomicInteger closes = new AtomicInteger();

    private void move(int by) {
        int next = state + by;
        state = next;
        if (next == ENDED) {
            closes.incrementAndGet();
        }
    }

    @Actor
    public void accepted() {
        move(ONE_OWED + ENDED - CALLING);
    }

    @Actor
    public void notified() {
        move(-ONE_OWED);
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = closes.get();
    }
}
