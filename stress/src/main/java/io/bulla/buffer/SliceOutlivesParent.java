// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// A slice is a holder of its own: the close of the buffer it was cut from takes nothing from it.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the slice read its bytes, then the memory went back, once")
@Outcome(expect = FORBIDDEN)
@State
public class SliceOutlivesParent {

    private final Poisoned memory = new Poisoned();
    private final SealedBuffer parent = Poisoned.sealed(memory);
    private final SealedBuffer slice = parent.slice(4, 4);

    @Actor
    public void parentsHolder() {
        parent.close();
    }

    @Actor
    public void slicesHolder(II_Result result) {
        result.r1 = Poisoned.read(slice);
        slice.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = memory.releases.get();
    }
}
