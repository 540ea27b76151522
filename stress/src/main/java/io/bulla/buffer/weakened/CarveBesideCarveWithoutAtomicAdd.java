// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `CarveBesideCarve` that reads where to carve, then writes where the next one carves.
@JCStressTest
@Outcome(id = "(0, 16)|(16, 0)", expect = ACCEPTABLE, desc = "each has bytes of its own")
@Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "both have the same bytes")
@Outcome(expect = FORBIDDEN)
@State
public class CarveBesideCarveWithoutAtomicAdd {

    private volatile int next;

    private int carve() {
        int at = next;
        next = at + 16;
        return at;
    }

    @Actor
    public void one(II_Result result) {
        result.r1 = carve();
    }

    @Actor
    public void two(II_Result result) {
        result.r2 = carve();
    }
}
