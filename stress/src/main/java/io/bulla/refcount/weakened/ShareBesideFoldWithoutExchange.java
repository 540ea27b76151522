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

/// Twin of `ShareBesideFold` whose fold reads the cell, then marks it folded: a share between the two is lost.
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "the share came to the word, with the cell or after it")
@Outcome(id = "1", expect = ACCEPTABLE_INTERESTING, desc = "the share was lost in the cell")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideFoldWithoutExchange {

    private static final int FOLDED = -1;

    private final AtomicInteger word = new AtomicInteger();
    private final AtomicInteger cell = new AtomicInteger(1);

    @Actor
    public void sharer() {
        int v = cell.get();
        while (v != FOLDED && !cell.compareAndSet(v, v + 1)) {
            v = cell.get();
        }
        if (v == FOLDED) {
            word.incrementAndGet();
        }
    }

    @Actor
    public void folder() {
        int v = cell.get();
        cell.set(FOLDED);
        word.addAndGet(v);
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = word.get();
    }
}
