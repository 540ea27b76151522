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

/// RefCount 5: a share of the only lease, which is moved and whose successor is closed meanwhile. The share fails, or
/// counts; with a tag and without.
@JCStressTest
@Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "no share was open when the resources were freed")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideMovedClose {

    private final LeasedThing thing = new LeasedThing();
    private final Claim only = new Claim(thing);
    private final LeasedThing taggedThing = new LeasedThing();
    private final Claim tagged = new Claim(taggedThing).moveTo("tag");
    private int openWhenFreed;

    @Actor
    public void sharer() {
        openWhenFreed = use(only, thing) + use(tagged, taggedThing);
    }

    @Actor
    public void mover() {
        only.move().close();
        tagged.move().close();
    }

    private static int use(Claim from, Thing thing) {
        Claim claim = from.shareOrNull();
        if (claim == null) {
            return 0;
        }
        int freed = thing.frees.get();
        claim.close();
        return freed;
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = thing.frees.get() + taggedThing.frees.get();
        result.r2 = openWhenFreed;
    }
}
