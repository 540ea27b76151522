// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// RefCount 5: a share of the only lease, and a share of that one, beside its close. Each fails, or counts; the
/// resource is freed once, and no share is open then.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "no share was open when the resource was freed")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideSoleClose {

    private final LeasedThing thing = new LeasedThing();
    private final Claim only = new Claim(thing);
    private int openWhenFreed;

    @Actor
    public void sharer() {
        Claim first = only.shareOrNull();
        if (first != null) {
            Claim second = first.share();
            first.close();
            openWhenFreed = thing.frees.get();
            second.close();
        }
    }

    @Actor
    public void closer() {
        only.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = thing.holders() == 0 ? thing.frees.get() : -1;
        result.r2 = openWhenFreed;
    }
}
