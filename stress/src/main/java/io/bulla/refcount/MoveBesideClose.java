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

/// Lease 1: a move beside a close of the same handle hands the claim on, or finds it gone; never both.
@JCStressTest
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "moved: the successor holds, nothing is freed")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "closed first: no successor, freed once")
@Outcome(expect = FORBIDDEN)
@State
public class MoveBesideClose {

    private final Thing thing = new Thing();
    private final Claim only = new Claim(thing);

    @Actor
    public void mover(II_Result result) {
        try {
            result.r1 = only.move().isOpen() ? 1 : -1;
        } catch (IllegalStateException closed) {
            result.r1 = 0;
        }
    }

    @Actor
    public void closer() {
        only.close();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = thing.frees.get();
    }
}
