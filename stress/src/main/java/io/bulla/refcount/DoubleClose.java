// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Lease 1: a handle closed by two threads at once is one claim less, not two.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "one of the closes counted; the other holder still holds")
@Outcome(expect = FORBIDDEN)
@State
public class DoubleClose {

    private final Thing thing = new Thing();
    private final Claim first = new Claim(thing);
    private final Claim other = first.share();

    @Actor
    public void one() {
        first.close();
    }

    @Actor
    public void two() {
        first.close();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = thing.frees.get() == 0 && other.isOpen() ? (int) thing.holders() : -1;
    }
}
