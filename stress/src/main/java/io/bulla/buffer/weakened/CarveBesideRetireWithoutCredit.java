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

/// Twin of `CarveBesideRetire` whose block does not hold in advance for the carves to come: a carve looks, then
/// takes a claim.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "retired first: no region")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "carved first: the region holds the chunk")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "a region of a chunk that is left")
@Outcome(expect = FORBIDDEN)
@State
public class CarveBesideRetireWithoutCredit {

    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile boolean retired;
    private volatile boolean left;

    @Actor
    public void carver(I_Result result) {
        if (!retired) {
            holders.incrementAndGet();
            result.r1 = left ? -1 : 1;
        }
    }

    @Actor
    public void retirer() {
        retired = true;
        if (holders.decrementAndGet() == 0) {
            left = true;
        }
    }
}
