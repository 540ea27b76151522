// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/// Twin of `FreeThenReuse` that says gone before the last write.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not gone yet")
@Outcome(id = "7", expect = ACCEPTABLE, desc = "the last write")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "gone before the last write")
@Outcome(expect = FORBIDDEN)
@State
public class FreeThenReuseShownFirst {

    private static final long GONE = 4;

    private final AtomicLong word = new AtomicLong();

    private int memory;

    @Actor
    public void letsGo() {
        word.set(GONE);
        memory = 7;
    }

    @Actor
    public void uses(I_Result result) {
        result.r1 = word.get() == GONE ? (memory == 7 ? 7 : -1) : 0;
    }
}
