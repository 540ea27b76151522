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

/// Lease 1, shown through a race: a tagged handle that a plain field showed to another thread is closed once.
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "not shown yet: closed by the one that opened it")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "shown: one of the closes counted, the other holder still holds")
@Outcome(expect = FORBIDDEN)
@State
public class TaggedDoubleClose {

    private final Thing thing = new Thing();
    private final Claim other = new Claim(thing);
    private Claim shown;

    @Actor
    public void opener() {
        Claim tagged = other.share("tag");
        shown = tagged;
        tagged.close();
    }

    @Actor
    public void finder(II_Result result) {
        Claim found = shown;
        if (found != null) {
            found.close();
            result.r1 = found.isOpen() ? -1 : 1;
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = thing.frees.get() == 0 && other.isOpen() ? (int) thing.holders() : -1;
    }
}
