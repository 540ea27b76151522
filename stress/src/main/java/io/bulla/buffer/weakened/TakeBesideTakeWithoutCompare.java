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
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `TakeBesideTake` that looks at the limit, then adds.
@JCStressTest
@Outcome(id = "60", expect = ACCEPTABLE, desc = "one of two got it")
@Outcome(id = "120", expect = ACCEPTABLE_INTERESTING, desc = "both got it: more than the limit of 100")
@Outcome(expect = FORBIDDEN)
@State
public class TakeBesideTakeWithoutCompare {

    private final AtomicInteger used = new AtomicInteger();

    private void take() {
        if (used.get() + 60 <= 100) {
            used.addAndGet(60);
        }
    }

    @Actor
    public void one() {
        take();
    }

    @Actor
    public void two() {
        take();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = used.get();
    }
}
