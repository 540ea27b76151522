// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// MarkState 4: who finds a mark gone meets what the device did before it let go.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not gone yet")
@Outcome(id = "7", expect = ACCEPTABLE, desc = "the last write")
@Outcome(expect = FORBIDDEN, desc = "gone before the last write")
@State
public class FreeThenReuse {

    private final MarkState state = new MarkState();

    private int memory;

    public FreeThenReuse() {
        state.live();
        state.stop();
    }

    @Actor
    public void letsGo() {
        memory = 7;
        state.free();
    }

    @Actor
    public void uses(I_Result result) {
        result.r1 = state.isGone() ? (memory == 7 ? 7 : -1) : 0;
    }
}
