// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// Twin of `CarveForTheLastRoom` whose carve keeps the credit that it took when it finds no room behind its step.
@JCStressTest
@Outcome(id = "(1, 0, 0)|(0, 1, 0)", expect = ACCEPTABLE, desc = "one got it, the other was refused before its step")
@Outcome(id = "(1, 0, 1)|(0, 1, 1)", expect = ACCEPTABLE_INTERESTING, desc = "a chunk that is never left")
@Outcome(expect = FORBIDDEN)
@State
public class CarveForTheLastRoomWithoutCreditBack {

    private static final int ROOM = 8;
    private static final int CREDIT = 4;
    private static final int CARVE = 1 << 16;

    // the number of carves above, the bytes carved below
    private final AtomicInteger word = new AtomicInteger();
    private int first;
    private int second;

    private int carve(int size) {
        if ((word.get() & CARVE - 1) + size > ROOM) {
            return 0;
        }
        int before = word.getAndAdd(CARVE + size);
        return (before & CARVE - 1) + size > ROOM ? 0 : 1;
    }

    @Actor
    public void first() {
        first = carve(8);
    }

    @Actor
    public void second() {
        second = carve(8);
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r1 = first;
        result.r2 = second;
        int givenBackByRetire = CREDIT - word.get() / CARVE;
        result.r3 = CREDIT - givenBackByRetire - first - second;
    }
}
