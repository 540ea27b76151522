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

/// Twin of `InflateBesideShare` that shows its cell before it fills it: by hand, what a processor may do when the
/// show does not release.
@JCStressTest
@Outcome(id = "[23]", expect = ACCEPTABLE, desc = "every holder in the cell is there")
@Outcome(id = "1", expect = ACCEPTABLE_INTERESTING, desc = "the fill took the share away")
@Outcome(expect = FORBIDDEN)
@State
public class InflateBesideShareFilledLate {

    private final AtomicReference<AtomicInteger> cells = new AtomicReference<>();
    private boolean inWord;

    @Actor
    public void striper() {
        AtomicInteger cell = new AtomicInteger();
        cells.set(cell);
        cell.setPlain(1);
    }

    @Actor
    public void sharer() {
        AtomicInteger cell = cells.get();
        if (cell == null) {
            inWord = true;
        } else {
            cell.incrementAndGet();
        }
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = cells.get().get() + (inWord ? 1 : 0);
    }
}
