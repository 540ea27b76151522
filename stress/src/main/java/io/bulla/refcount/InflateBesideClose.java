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

/// RefCount 4: striping beside closes loses no holder and hides no end. The thread that takes the word's last own
/// holder away, or the one that shows the cells, folds them.
@JCStressTest
@Outcome(id = "0, 1, 0", expect = ACCEPTABLE, desc = "held as long as one handle was open; freed once at the end")
@Outcome(expect = FORBIDDEN)
@State
public class InflateBesideClose {

    private final Thing thing = new Thing(2);
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();
    private final Claim third = first.share();

    @Actor
    public void striper() {
        thing.stripe();
    }

    @Actor
    public void closer() {
        first.close();
        second.close();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = thing.frees.get();
        third.close();
        result.r2 = thing.frees.get();
        result.r3 = (int) thing.holders() + (thing.isStriped() || Stripes.inUse() < 0 ? 100 : 0);
    }
}
