// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// MemoryBudget: takers at the same time never book more than the limit together.
@JCStressTest
@Outcome(id = "1, 60, 60", expect = ACCEPTABLE, desc = "one of two got it")
@Outcome(expect = FORBIDDEN)
@State
public class TakeBesideTake {

    private final MemoryBudget budget = new MemoryBudget(100);

    @Actor
    public void one(III_Result result) {
        result.r1 = budget.tryTake(60) ? 1 : 0;
    }

    @Actor
    public void two(III_Result result) {
        result.r2 = budget.tryTake(60) ? 1 : 0;
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 += result.r2;
        result.r2 = (int) budget.used();
        result.r3 = (int) budget.peak();
    }
}
