// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `ShrinkBesideCarve` that lacks the compare: it looks whether it is the last region, then sets the end.
@JCStressTest
@Outcome(id = "8, 24", expect = ACCEPTABLE, desc = "shrunk first, the other stands behind it")
@Outcome(id = "32, 48", expect = ACCEPTABLE, desc = "the other carved first: not shrunk")
@Outcome(
        id = "32, 8",
        expect = ACCEPTABLE_INTERESTING,
        desc = "shrunk over the other's bytes: they will be carved again")
@Outcome(expect = FORBIDDEN)
@State
public class ShrinkBesideCarveWithoutCompare {

    private final AtomicInteger next = new AtomicInteger(32);

    @Actor
    public void sealer() {
        if (next.get() == 32) {
            next.set(8);
        }
    }

    @Actor
    public void carver(II_Result result) {
        result.r1 = next.getAndAdd(16);
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r2 = next.get();
    }
}
