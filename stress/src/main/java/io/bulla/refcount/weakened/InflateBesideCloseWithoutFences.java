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
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `InflateBesideClose` that lacks the fences of ordering 4: each side writes its own, then looks at the
/// other's, and both looks may come first.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both saw the other: both fold, which is harmless")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "the closer folds")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the striper folds")
@Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "no thread folds: never freed")
@Outcome(expect = FORBIDDEN)
@State
public class InflateBesideCloseWithoutFences {

    private static final VarHandle LEFT;
    private static final VarHandle SHOWN;

    static {
        try {
            LEFT = MethodHandles.lookup().findVarHandle(InflateBesideCloseWithoutFences.class, "left", int.class);
            SHOWN = MethodHandles.lookup().findVarHandle(InflateBesideCloseWithoutFences.class, "shown", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int left;
    private int shown;

    @Actor
    public void closer(II_Result result) {
        LEFT.setOpaque(this, 1);
        result.r1 = (int) SHOWN.getOpaque(this);
    }

    @Actor
    public void striper(II_Result result) {
        SHOWN.setOpaque(this, 1);
        result.r2 = (int) LEFT.getOpaque(this);
    }
}
