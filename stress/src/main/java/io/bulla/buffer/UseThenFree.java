// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// The memory goes back once, after every holder has read.
@JCStressTest
@Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "both read their bytes; given back once")
@Outcome(expect = FORBIDDEN)
@State
public class UseThenFree {

    private final Poisoned memory = new Poisoned();
    private final SealedBuffer first = Poisoned.sealed(memory);
    private final SealedBuffer second = first.share();

    @Actor
    public void one(III_Result result) {
        result.r1 = Poisoned.read(first);
        first.close();
    }

    @Actor
    public void two(III_Result result) {
        result.r2 = Poisoned.read(second);
        second.close();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r3 = memory.releases.get();
    }
}
