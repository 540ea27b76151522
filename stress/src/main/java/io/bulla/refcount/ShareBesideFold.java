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

/// Stripes: a share that meets the fold of its cell is counted in the cell before, or in the word after; the
/// fold carries every holder over, once.
@JCStressTest
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the share was counted; freed once, after its close")
@Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "the close came first: no share, freed once")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideFold {

    private final Thing thing = new Thing(1);
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();
    private final Claim third = first.share();
    private Claim fourth;

    {
        thing.stripe();
        second.close();
        third.close();
    }

    @Actor
    public void sharer() {
        fourth = first.shareOrNull();
    }

    @Actor
    public void closer() {
        first.close();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = fourth != null ? 1 : 0;
        result.r2 = thing.frees.get();
        if (fourth != null) {
            fourth.close();
        }
        result.r3 = thing.frees.get();
    }
}
