// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// RefCount 1, striped: a use by a holder that was counted in a cell comes before the free, whichever thread folds.
@JCStressTest
@Outcome(id = "1, 2, 1", expect = ACCEPTABLE, desc = "striped: both uses happened before the free")
@Outcome(id = "1, 2, 0", expect = ACCEPTABLE, desc = "the cap forbade striping; both uses happened before the free")
@Outcome(expect = FORBIDDEN)
@State
public class UseInCellThenFree {

    private int usedByFirst;
    private int usedBySecond;
    private int sawFirst;
    private int sawSecond;
    private final RefCount thing = new RefCount(null) {
        @Override
        protected void free() {
            sawFirst = usedByFirst;
            sawSecond = usedBySecond;
        }

        @Override
        int cellCount() {
            return 1;
        }
    };
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();
    private final boolean striped = stripe();

    private boolean stripe() {
        thing.stripe();
        return thing.isStriped();
    }

    @Actor
    public void one() {
        usedByFirst = 1;
        first.close();
    }

    @Actor
    public void two() {
        usedBySecond = 2;
        second.close();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = sawFirst;
        result.r2 = sawSecond;
        result.r3 = striped ? 1 : 0;
    }
}
