// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// MarkState 2: memory is free once, however often the device says so.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "free once")
@Outcome(expect = FORBIDDEN, desc = "never, or twice")
@State
public class CallbackBesideCallback {

    private final MarkState state = new MarkState();

    public CallbackBesideCallback() {
        state.live();
        state.tryEvict();
    }

    private int one;
    private int two;

    @Actor
    public void first() {
        one = state.free() ? 1 : 0;
    }

    @Actor
    public void second() {
        two = state.free() ? 1 : 0;
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = one + two;
    }
}
