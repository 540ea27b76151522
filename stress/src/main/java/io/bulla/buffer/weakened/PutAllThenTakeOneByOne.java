// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.weakened;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.internal.IntrusiveStack;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// Twin of `PutAllThenTake` that puts the two one after the other.
@JCStressTest
@Outcome(id = "3, 12, 2", expect = ACCEPTABLE, desc = "the two came behind the taker")
@Outcome(
        id = {"123, 0, 1", "312, 0, 1"},
        expect = ACCEPTABLE,
        desc = "the two came together")
@Outcome(
        id = {"132, 0, 1", "13, 2, 1", "31, 2, 2"},
        expect = ACCEPTABLE_INTERESTING,
        desc = "the third came between the two, or the taker")
@Outcome(expect = FORBIDDEN)
@State
public class PutAllThenTakeOneByOne {

    private static final class One {

        private int number;
        private One next;
    }

    private static final class Waiting extends IntrusiveStack<One> {
        @Override
        protected One next(One item) {
            return item.next;
        }

        @Override
        protected void link(One item, One next) {
            item.next = next;
        }
    }

    private final Waiting waiting = new Waiting();
    private final One first = new One();
    private final One second = new One();
    private final One third = new One();
    private boolean held;
    private boolean alone;

    @Actor
    public void loop() {
        first.number = 1;
        second.number = 2;
        boolean woken = waiting.put(first);
        held = waiting.put(second) || woken;
    }

    @Actor
    public void other(III_Result result) {
        third.number = 3;
        alone = waiting.put(third);
        result.r1 = take();
    }

    @Arbiter
    public void judge(III_Result result) {
        result.r2 = take();
        result.r3 = (held ? 1 : 0) + (alone ? 1 : 0);
    }

    private int take() {
        int numbers = 0;
        for (One one = waiting.takeInOrder(); one != null; one = one.next) {
            numbers = numbers * 10 + one.number;
        }
        return numbers;
    }
}
