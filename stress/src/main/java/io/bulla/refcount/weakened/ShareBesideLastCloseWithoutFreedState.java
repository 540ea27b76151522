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

/// Twin of `ShareBesideLastClose` that lacks the state *freed*: the release is a decrement alone, the count
/// passes through "zero, not yet freed", a first late retain makes it one, and a second one mistakes that for a
/// holder.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "no holder when it was freed")
@Outcome(id = "1, 1", expect = ACCEPTABLE_INTERESTING, desc = "freed beneath a retain that had succeeded")
@Outcome(id = "2, .", expect = ACCEPTABLE_INTERESTING, desc = "risen from the dead, and freed twice")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideLastCloseWithoutFreedState {

    private final AtomicInteger count = new AtomicInteger(1);
    private final AtomicInteger frees = new AtomicInteger();
    private int openWhenFreed;

    private boolean retain() {
        if (count.getAndIncrement() > 0) {
            return true;
        }
        count.getAndDecrement();
        return false;
    }

    private void release() {
        if (count.decrementAndGet() == 0) {
            frees.incrementAndGet();
        }
    }

    private void retainThenRelease() {
        if (retain()) {
            if (frees.get() != 0) {
                openWhenFreed = 1;
            }
            release();
        }
    }

    @Actor
    public void sharer() {
        retainThenRelease();
    }

    @Actor
    public void closer() {
        release();
        retainThenRelease();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = frees.get();
        result.r2 = openWhenFreed;
    }
}
