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

/// Twin of `UseThenFree` in which the use stands behind the release: by hand, what a processor may do when the
/// release is missing. It shows that the test would see it.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "both uses happened before the free")
@Outcome(id = "., .", expect = ACCEPTABLE_INTERESTING, desc = "freed before a use")
@Outcome(expect = FORBIDDEN)
@State
public class UseThenFreeUsedLate {

    private final AtomicInteger count = new AtomicInteger(2);
    private int usedByFirst;
    private int usedBySecond;
    private int sawFirst;
    private int sawSecond;

    private void freeIfLast(int left) {
        if (left == 0) {
            sawFirst = usedByFirst;
            sawSecond = usedBySecond;
        }
    }

    @Actor
    public void one() {
        int left = count.decrementAndGet();
        usedByFirst = 1;
        freeIfLast(left);
    }

    @Actor
    public void two() {
        int left = count.decrementAndGet();
        usedBySecond = 2;
        freeIfLast(left);
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = sawFirst;
        result.r2 = sawSecond;
    }
}
