// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `PutThenPoll` whose put orders nothing.
@JCStressTest
@Outcome(id = "-1", expect = ACCEPTABLE, desc = "none is there yet")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "met as it was used")
@Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "met before it was used: x86 hides it")
@Outcome(expect = FORBIDDEN)
@State
public class PutThenPollWithoutRelease {

    private static final class One {

        private int used;
    }

    private final AtomicReference<One> top = new AtomicReference<>();
    private final One one = new One();

    @Actor
    public void putter() {
        one.used = 1;
        top.setPlain(one);
    }

    @Actor
    public void poller(I_Result result) {
        One first = top.get();
        result.r1 = first == null ? -1 : first.used;
    }
}
