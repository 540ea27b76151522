// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.pool.Depot.Chain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Depot: no chain is in two hands, and none is lost, while one is taken and put again.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each chain is in one place")
@Outcome(expect = FORBIDDEN)
@State
public class PollBesidePoll {

    private final Depot depot = new Depot();
    private Chain one;
    private Chain two;

    public PollBesidePoll() {
        depot.put(new Chain().of(null, 1));
        depot.put(new Chain().of(null, 2));
    }

    @Actor
    public void taker() {
        one = depot.poll();
    }

    @Actor
    public void turner() {
        Chain first = depot.poll();
        two = depot.poll();
        if (first != null) {
            depot.put(new Chain().of(null, first.count));
        }
    }

    @Arbiter
    public void judge(II_Result result) {
        count(one, result);
        count(two, result);
        for (Chain left = depot.poll(); left != null; left = depot.poll()) {
            count(left, result);
        }
    }

    private static void count(Chain chain, II_Result result) {
        if (chain != null && chain.count == 1) {
            result.r1++;
        } else if (chain != null) {
            result.r2++;
        }
    }
}
