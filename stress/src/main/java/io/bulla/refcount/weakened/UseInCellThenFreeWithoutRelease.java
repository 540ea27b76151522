// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `UseInCellThenFree` that lacks the release in the cell: the holder leaves it with a plain
/// compare-and-set.
@JCStressTest
@Outcome(id = "-1", expect = ACCEPTABLE, desc = "the cell was folded before its holder left")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the fold found the cell left, and sees the use")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: left, but not used yet")
@Outcome(expect = FORBIDDEN)
@State
public class UseInCellThenFreeWithoutRelease {

    private static final VarHandle CELL;

    static {
        try {
            CELL = MethodHandles.lookup().findVarHandle(UseInCellThenFreeWithoutRelease.class, "cell", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int cell = 1;
    private int used;

    @Actor
    public void holder() {
        used = 1;
        CELL.weakCompareAndSetPlain(this, 1, 0);
    }

    @Actor
    public void folder(I_Result result) {
        int found = (int) CELL.getAndSet(this, -1);
        result.r1 = found == 0 ? used : -1;
    }
}
