// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `PollBesidePoll` that puts the same chain again: a step is fooled by it.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each chain is in one place")
@Outcome(id = "2, 1", expect = ACCEPTABLE_INTERESTING, desc = "a chain in two hands")
@Outcome(expect = FORBIDDEN)
@State
public class PollBesidePollOfChainsPutAgain {

    private static final class Chain {

        private final int name;
        private Chain next;

        private Chain(int name, Chain next) {
            this.name = name;
            this.next = next;
        }
    }

    private final AtomicReference<Chain> top = new AtomicReference<>(new Chain(2, new Chain(1, null)));
    private Chain one;
    private Chain two;

    private Chain poll() {
        Chain first;
        do {
            first = top.get();
        } while (first != null && !top.compareAndSet(first, first.next));
        return first;
    }

    private void put(Chain chain) {
        do {
            chain.next = top.get();
        } while (!top.compareAndSet(chain.next, chain));
    }

    @Actor
    public void taker() {
        one = poll();
    }

    @Actor
    public void turner() {
        Chain first = poll();
        two = poll();
        if (first != null) {
            put(first);
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        count(one, result);
        count(two, result);
        for (Chain left = poll(); left != null; left = poll()) {
            count(left, result);
        }
    }

    private static void count(Chain chain, II_Result result) {
        if (chain != null && chain.name == 1) {
            result.r1++;
        } else if (chain != null) {
            result.r2++;
        }
    }
}
