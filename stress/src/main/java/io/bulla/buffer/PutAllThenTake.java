// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.bulla.buffer.internal.IntrusiveStack;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// IntrusiveStack and Turn: items that are put in one step are taken together, whole and in their order, beside
/// another thread's; and who finds the stack empty is told so, once for each time that it is emptied.
@JCStressTest
@Outcome(id = "3, 12, 2", expect = ACCEPTABLE, desc = "the two came behind the taker, and wake it again")
@Outcome(
        id = {"123, 0, 1", "312, 0, 1"},
        expect = ACCEPTABLE,
        desc = "the first of the two puts wakes")
@Outcome(expect = FORBIDDEN, desc = "an item that is lost, parted from the other, met unwritten, or has no wake-up")
@State
public class PutAllThenTake {

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
        second.next = first;
        held = waiting.putAll(second, first);
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
