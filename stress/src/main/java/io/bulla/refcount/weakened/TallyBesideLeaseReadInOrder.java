// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `TallyBesideLease` that reads what was opened first: a lease may come and go between the two.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "as many leases are open as none, or more")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "fewer leases are open than none")
@Outcome(expect = FORBIDDEN)
@State
public class TallyBesideLeaseReadInOrder {

    private final LongAdder opened = new LongAdder();
    private final LongAdder closed = new LongAdder();

    @Actor
    public void holder() {
        for (int i = 0; i < 64; i++) {
            opened.increment();
            closed.increment();
        }
    }

    @Actor
    public void reporter(I_Result result) {
        for (int i = 0; i < 64; i++) {
            long openedFirst = opened.sum();
            if (openedFirst - closed.sum() < 0) {
                result.r1 = -1;
            }
        }
    }
}
