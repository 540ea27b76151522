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

/// Twin of `CallbackBesideCallback` that looks, then says.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "free once")
@Outcome(id = "2", expect = ACCEPTABLE_INTERESTING, desc = "free twice")
@Outcome(expect = FORBIDDEN)
@State
public class CallbackBesideCallbackLookedAtFirst {

    private static final long CLOSING = 3;
    private static final long GONE = 4;

    private final AtomicLong word = new AtomicLong(CLOSING);

    private int free() {
        if (word.get() != CLOSING) {
            return 0;
        }
        word.set(GONE);
        return 1;
    }

    private int one;
    private int two;

    @Actor
    public void first() {
        one = free();
    }

    @Actor
    public void second() {
        two = free();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = one + two;
    }
}
