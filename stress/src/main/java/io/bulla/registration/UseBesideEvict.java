// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// MarkState 1: a registration in use is not taken back.
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "taken back, then not used")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "used, so not taken back")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "used, then taken back")
@Outcome(expect = FORBIDDEN, desc = "used after it was taken back")
@State
public class UseBesideEvict {

    private final MarkState state = new MarkState();

    public UseBesideEvict() {
        state.live();
    }

    // the memory: 1 while the device knows it
    private int known = 1;

    @Actor
    public void user(II_Result result) {
        if (state.tryUse()) {
            result.r1 = known == 1 ? 1 : -1;
            state.endUse();
        }
    }

    @Actor
    public void evicter(II_Result result) {
        if (state.tryEvict()) {
            known = 0;
            result.r2 = 1;
        }
    }
}
