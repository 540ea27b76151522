// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

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

/// Twin of `DoubleClose` that lacks the exchange: it looks whether the handle is open, then closes it.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "one of the closes counted; the other holder still holds")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "both closes counted: the other holder was robbed")
@Outcome(expect = FORBIDDEN)
@State
public class DoubleCloseWithoutExchange {

    private final AtomicInteger count = new AtomicInteger(2);
    private volatile boolean open = true;

    private void close() {
        if (open) {
            open = false;
            count.decrementAndGet();
        }
    }

    @Actor
    public void one() {
        close();
    }

    @Actor
    public void two() {
        close();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = count.get();
    }
}
