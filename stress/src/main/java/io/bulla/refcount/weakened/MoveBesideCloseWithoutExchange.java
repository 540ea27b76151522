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
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `MoveBesideClose` that lacks the exchange: mover and closer look whether the handle is open, then act.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "moved: the successor holds")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "closed first: no successor, no holder")
@Outcome(id = "1, 0", expect = ACCEPTABLE_INTERESTING, desc = "moved and closed: the successor holds what is freed")
@Outcome(expect = FORBIDDEN)
@State
public class MoveBesideCloseWithoutExchange {

    private final AtomicInteger count = new AtomicInteger(1);
    private volatile boolean open = true;

    @Actor
    public void mover(II_Result result) {
        if (open) {
            open = false;
            result.r1 = 1;
        }
    }

    @Actor
    public void closer() {
        if (open) {
            open = false;
            count.decrementAndGet();
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = count.get();
    }
}
