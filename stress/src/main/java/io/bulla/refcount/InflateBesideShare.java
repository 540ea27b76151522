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

/// Stripes: a thread that meets fresh cells finds the holders that were moved there; a share beside a striping is
/// counted where it is found again.
@JCStressTest
@Outcome(id = "4, 0, 1", expect = ACCEPTABLE, desc = "four handles, four holders; freed once after the last")
@Outcome(expect = FORBIDDEN)
@State
public class InflateBesideShare {

    private final Thing thing = new Thing(1);
    private final Claim first = new Claim(thing);
    private final Claim second = first.share();
    private final Claim third = first.share();
    private Claim fourth;

    @Actor
    public void striper() {
        thing.stripe();
    }

    @Actor
    public void sharer() {
        fourth = first.shareOrNull();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = (int) thing.holders();
        first.close();
        second.close();
        third.close();
        result.r2 = thing.frees.get();
        if (fourth != null) {
            fourth.close();
        }
        result.r3 = thing.frees.get();
    }
}
