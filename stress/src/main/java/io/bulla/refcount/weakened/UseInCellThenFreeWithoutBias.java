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

/// Twin of `UseInCellThenFree` whose cell is no holder of the word: when the word comes to zero, it frees,
/// whatever the cell says.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "both uses happened before the free")
@Outcome(id = "0, 2", expect = ACCEPTABLE_INTERESTING, desc = "freed beneath the holder in the cell")
@Outcome(expect = FORBIDDEN)
@State
public class UseInCellThenFreeWithoutBias {

    private final AtomicInteger word = new AtomicInteger(1);
    private final AtomicInteger cell = new AtomicInteger(1);
    private int usedInCell;
    private int usedInWord;
    private int sawCell;
    private int sawWord;

    @Actor
    public void inCell() {
        usedInCell = 1;
        cell.decrementAndGet();
    }

    @Actor
    public void inWord() {
        usedInWord = 2;
        if (word.decrementAndGet() == 0) {
            sawCell = usedInCell;
            sawWord = usedInWord;
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = sawCell;
        result.r2 = sawWord;
    }
}
