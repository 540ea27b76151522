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

/// Twin of `SliceOutlivesParent` whose slice is no holder: it borrows the parent's bytes.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the slice was read in time")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "the parent's close took the slice's bytes")
@Outcome(expect = FORBIDDEN)
@State
public class SliceOutlivesParentWithoutClaim {

    private final AtomicInteger count = new AtomicInteger(1);
    private volatile int memory = 1;

    @Actor
    public void parentsHolder() {
        if (count.decrementAndGet() == 0) {
            memory = -1;
        }
    }

    @Actor
    public void slicesHolder(I_Result result) {
        result.r1 = memory;
    }
}
