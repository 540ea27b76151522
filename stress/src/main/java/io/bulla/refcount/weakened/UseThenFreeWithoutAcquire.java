// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `UseThenFree` that lacks the acquire: the thread that comes to zero frees at once.
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "both uses happened before the free")
@Outcome(id = "0, 2", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: freed before a use")
@Outcome(id = "1, 0", expect = ACCEPTABLE_INTERESTING, desc = "x86 hides it: freed before a use")
@Outcome(expect = FORBIDDEN)
@State
public class UseThenFreeWithoutAcquire extends TwoUses {

    private void release() {
        VarHandle.releaseFence();
        if (leavePlain() == 0) {
            free();
        }
    }

    @Actor
    public void one() {
        usedByFirst = 1;
        release();
    }

    @Actor
    public void two() {
        usedBySecond = 2;
        release();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = sawFirst;
        result.r2 = sawSecond;
    }
}
