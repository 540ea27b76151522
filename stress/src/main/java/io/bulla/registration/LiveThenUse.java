// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// MarkState 3: a user meets the mark.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not live yet")
@Outcome(id = "7", expect = ACCEPTABLE, desc = "the mark")
@Outcome(expect = FORBIDDEN, desc = "live without a mark")
@State
public class LiveThenUse {

    private final MarkState state = new MarkState();

    private int mark;

    @Actor
    public void registers() {
        mark = 7;
        state.live();
    }

    @Actor
    public void uses(I_Result result) {
        result.r1 = state.tryUse() ? (mark == 7 ? 7 : -1) : 0;
    }
}
