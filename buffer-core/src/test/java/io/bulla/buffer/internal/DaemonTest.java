// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/// Steps are taken in the test's own thread, where none has to wait.
class DaemonTest {

    private static final long DAY = Duration.ofDays(1).toNanos();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger steps = new AtomicInteger();

    private long countDownToDone() {
        return steps.incrementAndGet() < 3 ? 0 : Daemon.DONE;
    }

    @Test
    void stepsAreTakenUntilTheWorkIsDone() {
        Daemon daemon = new Daemon("of-a-test", this::countDownToDone, threads::add);
        daemon.start();
        assertEquals(0, steps.get(), "in its own thread only");
        assertEquals("of-a-test", threads.getFirst().getName());
        threads.getFirst().run();
        assertEquals(3, steps.get());
    }

    @Test
    void stepThatThrowsIsFollowedByAnother() {
        Daemon daemon = new Daemon(
                "of-a-test",
                () -> {
                    if (steps.incrementAndGet() < 3) {
                        throw new InternalError("of a test");
                    }
                    return Daemon.DONE;
                },
                threads::add);
        daemon.start();
        threads.getFirst().run();
        assertEquals(3, steps.get());
    }

    @Test
    void threadThatRunsIsNotStartedAgainAndOneThatIsGoneIs() throws InterruptedException {
        Daemon daemon = new Daemon(
                "of-a-test",
                () -> {
                    LockSupport.park();
                    return steps.get() == 0 ? 0 : Daemon.DONE;
                },
                thread -> {
                    threads.add(thread);
                    thread.start();
                });
        daemon.start();
        daemon.start();
        daemon.tryStart();
        assertEquals(1, threads.size());
        steps.incrementAndGet();
        daemon.wake();
        assertTrue(threads.getFirst().join(PATIENCE));
        daemon.tryStart();
        assertEquals(2, threads.size());
        assertNotSame(threads.getFirst(), threads.getLast());
        daemon.wake();
        assertTrue(threads.getLast().join(PATIENCE));
        daemon.start();
        assertEquals(3, threads.size());
        daemon.wake();
        assertTrue(threads.getLast().join(PATIENCE));
    }

    @Test
    void startThatFailsIsTheCallersUnlessItOnlyTries() {
        OutOfMemoryError noThread = new OutOfMemoryError("of a test");
        Daemon daemon = new Daemon("of-a-test", this::countDownToDone, thread -> {
            if (steps.incrementAndGet() < 3) {
                throw noThread;
            }
            threads.add(thread);
        });
        assertSame(noThread, assertThrows(OutOfMemoryError.class, daemon::start));
        daemon.tryStart();
        assertTrue(threads.isEmpty());
        daemon.tryStart();
        assertFalse(threads.isEmpty());
    }

    @Test
    void threadRestsAsLongAsItsStepSaysUnlessItIsWoken() throws InterruptedException {
        Daemon daemon = new Daemon("of-a-test", () -> steps.incrementAndGet() < 2 ? DAY : Daemon.DONE, thread -> {
            threads.add(thread);
            thread.start();
        });
        daemon.start();
        Thread thread = threads.getFirst();
        while (thread.isAlive() && LockSupport.getBlocker(thread) != daemon) {
            Thread.sleep(1);
        }
        assertEquals(1, steps.get(), "it did not rest");
        daemon.wake();
        assertTrue(thread.join(PATIENCE));
        assertEquals(2, steps.get());
    }
}
