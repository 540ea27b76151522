// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `InflateBesideClose` that lacks the striper's look after showing: the last own holder may have left
/// between its step and the show, and found no cells to fold.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "one holder is left, in the word, where it ends")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "it is left in a cell that no thread folds: never freed")
@Outcome(expect = FORBIDDEN)
@State
public class InflateBesideCloseWithoutSecondLook {

    private static final int BIAS = 1000;

    private final AtomicInteger word = new AtomicInteger(2);
    private final AtomicReference<AtomicInteger> cells = new AtomicReference<>();

    @Actor
    public void striper() {
        if (word.compareAndSet(2, 1 + BIAS)) {
            cells.set(new AtomicInteger(1));
        }
    }

    @Actor
    public void closer() {
        if (word.decrementAndGet() == BIAS) {
            AtomicInteger cell = cells.get();
            if (cell != null) {
                word.addAndGet(cell.getAndSet(-1) - BIAS);
            }
        }
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = word.get() == 1 ? 1 : 0;
    }
}
