// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `ShareBesideClose` that trusts the handle's flag: it does not ask the count whether anything is left.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "the close came first: no share")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the share came first")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "a share of what is given back")
@Outcome(expect = FORBIDDEN)
@State
public class ShareBesideCloseWithoutCount {

    private final AtomicInteger count = new AtomicInteger(1);
    private volatile boolean open = true;
    private volatile int memory = 1;

    @Actor
    public void sharer(I_Result result) {
        if (open) {
            count.incrementAndGet();
            result.r1 = memory;
        }
    }

    @Actor
    public void closer() {
        open = false;
        if (count.decrementAndGet() == 0) {
            memory = -1;
        }
    }
}
