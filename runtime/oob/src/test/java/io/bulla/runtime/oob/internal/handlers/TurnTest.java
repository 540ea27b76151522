// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.runtime.oob.internal.machine.Environment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// When the handlers' thread is woken for what arrives. Its first wake-up makes the thread, so that can be counted.
class TurnTest {

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final AtomicInteger wakeUps = new AtomicInteger();
    private final AtomicInteger run = new AtomicInteger();
    private final AtomicInteger dropped = new AtomicInteger();
    private final CountDownLatch last = new CountDownLatch(1);
    private int missing;
    private final HandlerExecutor thread = new HandlerExecutor("test", 0, task -> {
        wakeUps.incrementAndGet();
        if (missing > 0) {
            missing--;
            throw new OutOfMemoryError("no thread, as told");
        }
        return Environment.MACHINE.threads().newThread(task);
    });
    private final Turn turn = new Turn(thread, tasks::add);

    private final class Counted extends HandlerExecutor.Item {

        private final boolean fails;
        private final boolean isLast;

        Counted(boolean fails, boolean isLast) {
            this.fails = fails;
            this.isLast = isLast;
        }

        @Override
        public void run() {
            run.incrementAndGet();
            if (isLast) {
                last.countDown();
            }
            if (fails) {
                throw new IllegalStateException("thrown, as told");
            }
        }

        @Override
        public void drop() {
            dropped.incrementAndGet();
        }
    }

    @AfterEach
    void end() {
        thread.close();
        thread.ended().toCompletableFuture().join();
    }

    private void hold(int number, long bytes) {
        for (int i = 0; i < number; i++) {
            turn.hold(new Counted(false, false), bytes);
        }
    }

    private void allRun(int number) throws InterruptedException {
        thread.put(new Counted(false, true));
        last.await();
        assertEquals(number + 1, run.get());
    }

    private void awaitRun(int number) {
        while (run.get() < number) {
            Thread.onSpinWait();
        }
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    @Test
    void whatArrivesInOneTurnTakesOneWakeUp() throws Exception {
        hold(10, 100);
        assertEquals(0, wakeUps.get());
        assertEquals(1, tasks.size());
        runTasks();
        assertEquals(1, wakeUps.get());
        allRun(10);
    }

    @Test
    void whatIsHeldRunsInTheOrderInWhichItCame() throws Exception {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            turn.hold(
                    new HandlerExecutor.Item() {
                        @Override
                        public void run() {
                            order.add(number);
                        }
                    },
                    1);
        }
        turn.over();
        allRun(0);
        assertEquals(List.of(0, 1, 2, 3, 4), order);
    }

    @Test
    void connectionThatHasBeenReadEndsTheTurnAndItsTaskFindsNothing() throws Exception {
        hold(3, 100);
        turn.over();
        assertEquals(1, wakeUps.get());
        runTasks();
        hold(1, 100);
        assertEquals(1, tasks.size(), "the next turn has a task of its own");
        runTasks();
        allRun(4);
    }

    @Test
    void senderWithoutEndDelaysNobody() {
        hold(Turn.MOST_MESSAGES - 1, 1);
        assertEquals(0, wakeUps.get());
        hold(1, 1);
        assertEquals(1, wakeUps.get());
    }

    @Test
    void bytesBoundATurnToo() {
        hold(1, Turn.MOST_BYTES - 1);
        assertEquals(0, wakeUps.get());
        hold(1, 1);
        assertEquals(1, wakeUps.get());
    }

    @Test
    void fragmentsOfALongMessageCountForThoseThatWait() {
        turn.landed(2 * Turn.MOST_BYTES);
        hold(1, 1);
        assertEquals(1, wakeUps.get());
    }

    @Test
    void fragmentEndsATurnInWhichSomethingWaits() {
        hold(1, 0);
        turn.landed(Turn.MOST_BYTES / 2);
        assertEquals(0, wakeUps.get());
        turn.landed(Turn.MOST_BYTES / 2);
        assertEquals(1, wakeUps.get());
    }

    @Test
    void messageGoesAtOnceIfNoTaskWillEndTheTurn() throws Exception {
        Turn lonely = new Turn(thread, task -> {
            throw new OutOfMemoryError("no task, as told");
        });
        lonely.hold(new Counted(false, false), 1);
        assertEquals(1, wakeUps.get());
        allRun(1);
    }

    @Test
    void whatHadNoThreadIsTriedAgain() throws Exception {
        missing = 1;
        hold(5, 1);
        runTasks();
        assertEquals(1, wakeUps.get());
        thread.tick();
        assertEquals(2, wakeUps.get());
        allRun(5);
    }

    @Test
    void whatAnotherThreadPutsIsNotHeldUpByATurn() throws Exception {
        hold(1, 1);
        Thread.ofPlatform().start(() -> thread.put(new Counted(false, true))).join();
        assertEquals(1, wakeUps.get());
        last.await();
        assertEquals(1, run.get(), "what is held goes with its turn");
        runTasks();
        awaitRun(2);
    }

    @Test
    void whatTheLoopPutsIsBehindWhatItHolds() throws Exception {
        hold(3, 1);
        thread.put(new Counted(false, true));
        assertEquals(1, wakeUps.get());
        last.await();
        assertEquals(4, run.get());
        runTasks();
        assertEquals(1, wakeUps.get());
    }

    @Test
    void whatIsHeldWaitsForItsHandlerToo() {
        hold(3, 1);
        assertEquals(3, thread.waiting().size());
        assertEquals(3, thread.waiting().size(), "they stay");
    }

    @Test
    void handlerThatThrowsDoesNotStopTheRest() throws Exception {
        turn.hold(new Counted(true, false), 1);
        hold(2, 1);
        runTasks();
        allRun(3);
    }

    @Test
    void whatIsHeldAtTheCloseIsDroppedAndNotHandedOverLate() throws Exception {
        hold(3, 1);
        thread.close();
        assertEquals(3, dropped.get());
        hold(1, 1);
        runTasks();
        thread.ended().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertEquals(4, dropped.get());
        assertEquals(0, run.get());
    }
}
