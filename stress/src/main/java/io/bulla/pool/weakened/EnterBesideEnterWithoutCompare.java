// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.weakened;

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

/// Twin of `EnterBesideEnter` that looks whether it is free, then says that it is not.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "one got in, the other did without")
@Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "one after the other")
@Outcome(id = "2, 1", expect = ACCEPTABLE_INTERESTING, desc = "both at once")
@Outcome(expect = FORBIDDEN)
@State
public class EnterBesideEnterWithoutCompare {

    private final AtomicInteger busy = new AtomicInteger();

    private int inside;
    private int entered1;
    private int entered2;

    private int use() {
        if (busy.get() != 0) {
            return 0;
        }
        busy.set(1);
        inside++;
        busy.setRelease(0);
        return 1;
    }

    @Actor
    public void one() {
        entered1 = use();
    }

    @Actor
    public void two() {
        entered2 = use();
    }

    @Arbiter
    public void judge(II_Result result) {
        result.r1 = entered1 + entered2;
        result.r2 = inside;
    }
}
