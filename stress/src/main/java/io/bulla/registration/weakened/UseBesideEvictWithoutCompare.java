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
import org.openjdk.jcstress.infra.results.II_Result;

/// Twin of `UseBesideEvict` that looks whether it is idle, then says that it is taken back.
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "taken back, then not used")
@Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "used, so not taken back")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "used, then taken back")
@Outcome(id = "-1, 1", expect = ACCEPTABLE_INTERESTING, desc = "used after it was taken back")
@Outcome(expect = FORBIDDEN)
@State
public class UseBesideEvictWithoutCompare {

    private static final long LIVE = 1;
    private static final long CLOSING = 3;

    private final AtomicLong word = new AtomicLong(LIVE);

    // the memory: 1 while the device knows it
    private int known = 1;

    @Actor
    public void user(II_Result result) {
        long before = word.get();
        if (before == LIVE && word.compareAndSet(before, before + 8)) {
            result.r1 = known == 1 ? 1 : -1;
            word.addAndGet(-8);
        }
    }

    @Actor
    public void evicter(II_Result result) {
        if (word.get() == LIVE) {
            word.set(CLOSING);
            known = 0;
            result.r2 = 1;
        }
    }
}
