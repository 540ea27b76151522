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
import org.openjdk.jcstress.infra.results.II_Result;

/// ArenaCloser: a chunk that is put beside a poll comes out once, with what was done to it before; those beneath it
/// stay.
@JCStressTest
@Outcome(id = "(1|2), 2", expect = ACCEPTABLE, desc = "the item that was there, or the one that came; both come out")
@Outcome(expect = FORBIDDEN, desc = "an item that is lost, comes twice, or is met before it was used")
@State
public class PutThenPoll {

    private static final class One {

        private final int number;
        private One next;
        private int used;

        private One(int number) {
            this.number = number;
        }
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
    private final One second = new One(2);
    private int seen;

    public PutThenPoll() {
        One first = new One(1);
        first.used = 1;
        waiting.put(first);
    }

    @Actor
    public void putter() {
        second.used = 1;
        waiting.put(second);
    }

    @Actor
    public void poller(II_Result result) {
        One one = waiting.poll();
        result.r1 = one.used == 1 ? one.number : -1;
        seen = 1;
    }

    @Arbiter
    public void judge(II_Result result) {
        while (waiting.poll() != null) {
            seen++;
        }
        result.r2 = seen;
    }
}
