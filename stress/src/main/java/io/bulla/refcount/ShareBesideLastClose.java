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

/// RefCount 3: late shares beside the last close, and after it, all fail or all count; the resource is freed
/// once.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "no share was open when the resource was freed")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideLastClose {

    private final Thing thing = new Thing();
    private final Claim only = new Claim(thing);
    private int openWhenFreed;

    @Actor
    public void sharer() {
        use(only.shareOrNull());
    }

    @Actor
    public void closer() {
        only.close();
        use(thing.retain(1) ? new Claim(thing) : null);
    }

    private void use(Claim claim) {
        if (claim != null) {
            if (thing.frees.get() != 0) {
                openWhenFreed = 1;
            }
            claim.close();
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = thing.frees.get();
        result.r2 = openWhenFreed;
    }
}
