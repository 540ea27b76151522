// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `PutThenPoll` whose put writes the top without comparing.
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "both come out once")
@Outcome(id = "3", expect = ACCEPTABLE_INTERESTING, desc = "one comes out twice")
@Outcome(expect = FORBIDDEN)
@State
public class PutThenPollWithoutCompare {

    private record One(One next) {}

    private final AtomicReference<One> top = new AtomicReference<>(new One(null));
    private int seen;

    private One poll() {
        One first;
        do {
            first = top.get();
        } while (first != null && !top.compareAndSet(first, first.next()));
        return first;
    }

    @Actor
    public void putter() {
        top.set(new One(top.get()));
    }

    @Actor
    public void poller() {
        if (poll() != null) {
            seen = 1;
        }
    }

    @Arbiter
    public void judge(I_Result result) {
        while (poll() != null) {
            seen++;
        }
        result.r1 = seen;
    }
}
