// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `ShrinkBesideCarve` whose shrink does not release: what its writer had written to the bytes given
/// back may arrive after the bytes of their next owner.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "nothing was carved from the bytes given back")
@Outcome(id = "2", expect = ACCEPTABLE, desc = "carved, and the new owner finds what it wrote")
@Outcome(id = "1", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: written over by the owner before")
@Outcome(expect = FORBIDDEN)
@State
public class ShrinkBesideCarveWithoutRelease {

    private static final VarHandle NEXT;

    static {
        try {
            NEXT = MethodHandles.lookup().findVarHandle(ShrinkBesideCarveWithoutRelease.class, "next", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int next = 32;
    private int memory;
    private boolean carvedAgain;

    @Actor
    public void sealer() {
        memory = 1;
        NEXT.weakCompareAndSetPlain(this, 32, 8);
    }

    @Actor
    public void carver() {
        if ((int) NEXT.getAndAdd(this, 16) == 8) {
            memory = 2;
            carvedAgain = true;
        }
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = carvedAgain ? memory : 0;
    }
}
