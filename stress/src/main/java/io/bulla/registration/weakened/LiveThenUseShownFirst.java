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

/// Twin of `LiveThenUse` that says live before the mark is written.
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not live yet")
@Outcome(id = "7", expect = ACCEPTABLE, desc = "the mark")
@Outcome(id = "-1", expect = ACCEPTABLE_INTERESTING, desc = "live without a mark")
@Outcome(expect = FORBIDDEN)
@State
public class LiveThenUseShownFirst {

    private static final long LIVE = 1;

    private final AtomicLong word = new AtomicLong();

    private int mark;

    @Actor
    public void registers() {
        word.set(LIVE);
        mark = 7;
    }

    @Actor
    public void uses(I_Result result) {
        result.r1 = word.get() == LIVE ? (mark == 7 ? 7 : -1) : 0;
    }
}
