// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `ReadBesideReuse` that looks at the stamp before it reads.
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the bytes that were sealed")
@Outcome(id = "2", expect = ACCEPTABLE, desc = "an exception")
@Outcome(id = "3", expect = ACCEPTABLE_INTERESTING, desc = "another owner's bytes")
@Outcome(expect = FORBIDDEN)
@State
public class ReadBesideReuseLookedAtFirst {

    private int bytes = 1;
    private boolean ended;

    @Actor
    public void owner() {
        ended = true;
        VarHandle.releaseFence();
        bytes = 3;
    }

    @Actor
    public void reader(I_Result result) {
        if (ended) {
            result.r1 = 2;
        } else {
            VarHandle.acquireFence();
            result.r1 = bytes;
        }
    }
}
