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

/// Twin of `FanOutBesideOtherThread` that lacks the look at the caller: two threads count one plain `int` down.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "closed once, after the three completions that were announced")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "completions were lost: never closed")
@Outcome(id = "2", expect = ACCEPTABLE_INTERESTING, desc = "closed twice")
@Outcome(expect = FORBIDDEN)
@State
public class FanOutBesideOtherThreadWithoutOwner {

    private int waiting = 3;
    private final AtomicInteger closes = new AtomicInteger();

    private void completed() {
        if (--waiting == 0) {
            closes.incrementAndGet();
        }
    }

    @Actor
    public void owner() {
        completed();
        completed();
    }

    @Actor
    public void other() {
        completed();
    }

    @Arbiter
    public void judge(I_Result result) {
        result.r1 = closes.get();
    }
}
