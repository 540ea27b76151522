// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `ShareBesideSoleClose` whose sharer does not look at its lease again after it has counted: the closer, who
/// saw one holder, frees beneath it.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "no share was open when it was freed")
@Outcome(id = "1, 1", expect = ACCEPTABLE_INTERESTING, desc = "freed beneath a share that had succeeded")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideSoleCloseWithoutLook {

    private final AtomicBoolean open = new AtomicBoolean(true);
    private final AtomicLong count = new AtomicLong(2);
    private final AtomicInteger frees = new AtomicInteger();
    private int openWhenFreed;

    private boolean retain() {
        if (open.getPlain() && (count.getAndAdd(2) & 1) == 0) {
            return true;
        }
        return false;
    }

    private void release() {
        if (count.getAndAdd(-2) == 2) {
            frees.incrementAndGet();
        }
    }

    @Actor
    public void sharer() {
        if (retain()) {
            openWhenFreed = frees.get();
            release();
        }
    }

    @Actor
    public void closer() {
        if (open.getAndSet(false)) {
            if (count.get() == 2) {
                count.setOpaque(1);
                frees.incrementAndGet();
            } else {
                release();
            }
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = frees.get();
        result.r2 = openWhenFreed;
    }
}
