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

/// MarkState 2: of the last end and the stop, one retires.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "retired once")
@Outcome(expect = FORBIDDEN, desc = "never, or twice")
@State
public class EndBesideStop {

    private final MarkState state = new MarkState();

    public EndBesideStop() {
        state.live();
        state.tryUse();
    }

    private int one;
    private int two;

    @Actor
    public void first() {
        one = state.endUse() ? 1 : 0;
    }

    @Actor
    public void second() {
        two = state.stop() ? 1 : 0;
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = one + two;
    }
}
