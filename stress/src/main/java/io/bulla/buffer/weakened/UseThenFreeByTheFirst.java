// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `UseThenFree` that lacks the count: the first that is done gives the memory back.
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both read in time")
@Outcome(id = "(1, -1)|(-1, 1)", expect = ACCEPTABLE_INTERESTING, desc = "one read what was given back")
@Outcome(expect = FORBIDDEN)
@State
public class UseThenFreeByTheFirst {

    private volatile int memory = 1;

    private int readThenFree() {
        int read = memory;
        memory = -1;
        return read;
    }

    @Actor
    public void one(II_Result result) {
        result.r1 = readThenFree();
    }

    @Actor
    public void two(II_Result result) {
        result.r2 = readThenFree();
    }
}
