// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.machine.Environment;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What waits for the handlers' thread: its order, what is tried again, and what becomes of it at the end.
class HandlerExecutorTest {

    private static final long PATIENCE_SECONDS = 60;

    private final AtomicInteger threads = new AtomicInteger();
    private final BlockingQueue<String> run = new LinkedBlockingQueue<>();
    private final List<String> dropped = new CopyOnWriteArrayList<>();
    private final CountDownLatch blocks = new CountDownLatch(1);
    private final HandlerExecutor executor = new HandlerExecutor("test", 7, task -> {
        threads.incrementAndGet();
        return Environment.MACHINE.threads().newThread(task);
    });

    private class Named extends HandlerExecutor.Item {

        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            run.add(name);
        }

        @Override
        public void drop() {
            dropped.add(name);
        }
    }

    /// Begins at its third try.
    private final class Shy extends Named {

        private int tries;

        Shy(String name) {
            super(name);
        }

        @Override
        public void run() {
            run.add("try " + ++tries);
        }

        @Override
        public boolean isBegun() {
            return tries > 2;
        }
    }

    private final class Blocker extends Named {

        Blocker() {
            super("blocker");
        }

        @Override
        public void run() {
            super.run();
            try {
                blocks.await();
            } catch (InterruptedException over) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @AfterEach
    void end() {
        blocks.countDown();
        executor.close();
        executor.ended().toCompletableFuture().join();
    }

    private void runs(String... names) throws InterruptedException {
        for (String name : names) {
            assertEquals(name, run.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void listenerIsToldInItsTurnWhateverTheOneBeforeThrows() throws Exception {
        executor.tell(() -> {
            throw new IllegalStateException("thrown, as told");
        });
        executor.tell(() -> run.add(Thread.currentThread().getName() + " " + executor.isRunningHere()));
        runs("test-7 true");
        assertFalse(executor.isRunningHere());
    }

    @Test
    void firstOneRunsBeforeWhatWaitsAndAnotherBehindIt() throws Exception {
        executor.put(new Blocker());
        runs("blocker");
        executor.put(new Named("waits"));
        executor.putFirst(new Named("first"));
        executor.putFirst(new Named("second"));
        blocks.countDown();
        runs("first", "waits", "second");
    }

    @Test
    void firstOneWakesTheThread() throws Exception {
        executor.putFirst(new Named("first"));
        runs("first");
        executor.putFirst(new Named("next"));
        runs("next");
    }

    @Test
    void whatHasNotBegunIsTriedAgainBeforeWhatIsBehindIt() throws Exception {
        executor.put(new Blocker());
        executor.put(new Shy("shy"));
        executor.put(new Named("behind"));
        blocks.countDown();
        runs("blocker", "try 1");
        // wakes it, or comes before it sleeps, and then the tick does
        executor.put(new Named("later"));
        for (String wanted : List.of("try 2", "try 3")) {
            String next = null;
            while (next == null) {
                executor.tick();
                next = run.poll(1, TimeUnit.MILLISECONDS);
            }
            assertEquals(wanted, next);
        }
        runs("behind", "later");
    }

    @Test
    void whatHasNotBegunIsDroppedAtTheEnd() throws Exception {
        executor.put(new Blocker());
        executor.put(new Shy("shy"));
        executor.put(new Named("behind"));
        blocks.countDown();
        runs("blocker", "try 1");
        executor.close();
        executor.ended().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertTrue(dropped.contains("shy"), dropped::toString);
        assertTrue(dropped.contains("behind"), dropped::toString);
        assertEquals(0, run.size());
    }

    @Test
    void whatWaitsAtTheCloseIsDroppedTheFirstOneToo() throws Exception {
        executor.put(new Blocker());
        runs("blocker");
        executor.put(new Named("waits"));
        executor.putFirst(new Named("first"));
        executor.close();
        assertEquals(List.of("first", "waits"), dropped);
        executor.put(new Named("late"));
        assertEquals(List.of("first", "waits", "late"), dropped);
        blocks.countDown();
        executor.ended().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(0, run.size());
    }

    @Test
    void nothingHeldWakesNoThread() {
        executor.letGo();
        executor.tick();
        assertEquals(0, threads.get());
    }

    @Test
    void whatWaitsIsSeenWhileTheThreadIsHeldUp() throws Exception {
        executor.put(new Blocker());
        runs("blocker");
        executor.put(new Named("one"));
        executor.hold(new Named("two"));
        assertEquals(2, executor.waiting().size());
        executor.put(new Named("three"));
        assertEquals(3, executor.waiting().size());
        blocks.countDown();
        runs("one", "two", "three");
    }
}
