// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `EndBesideStop` whose stop looks at the uses, then says which state comes next.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "retired once")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "never")
@Outcome(expect = FORBIDDEN)
@State
public class EndBesideStopLookedAtFirst {

    private static final long LIVE = 1;
    private static final long RETIRING = 2;
    private static final long CLOSING = 3;

    private final AtomicLong word = new AtomicLong(LIVE + 8);

    private int one;
    private int two;

    @Actor
    public void first() {
        long before = word.get();
        long after = before == RETIRING + 8 ? CLOSING : before - 8;
        while (!word.compareAndSet(before, after)) {
            before = word.get();
            after = before == RETIRING + 8 ? CLOSING : before - 8;
        }
        one = after == CLOSING ? 1 : 0;
    }

    @Actor
    public void second() {
        boolean idle = word.get() == LIVE;
        word.set(idle ? CLOSING : RETIRING + 8);
        two = idle ? 1 : 0;
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = one + two;
    }
}
