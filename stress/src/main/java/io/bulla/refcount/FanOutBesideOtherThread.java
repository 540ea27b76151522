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

/// FanOut: a thread that is not its owner is refused, and changes nothing that the owner counts.
@JCStressTest
@Outcome(id = "1, [01]", expect = ACCEPTABLE, desc = "closed once, by the owner; another thread is refused")
@Outcome(expect = FORBIDDEN)
@State
public class FanOutBesideOtherThread {

    private final Thing thing = new Thing();
    private final Claim only = new Claim(thing);
    private FanOut shown;

    @Actor
    public void owner() {
        FanOut fanOut = new FanOut(only, 3);
        shown = fanOut;
        fanOut.completed();
        fanOut.completed();
        fanOut.completed();
    }

    @Actor
    public void other(II_Result result) {
        FanOut seen = shown;
        if (seen != null) {
            try {
                seen.completed();
                result.r2 = 2;
            } catch (IllegalStateException refused) {
                result.r2 = 1;
            }
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = thing.frees.get();
    }
}
