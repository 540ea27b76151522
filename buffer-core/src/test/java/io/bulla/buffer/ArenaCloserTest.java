// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.internal.Daemon;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// The thread that closes arenas survives any Throwable, and belongs to no caller's group or class loader.
class ArenaCloserTest {

    private final AtomicLong givenBack = new AtomicLong();
    private final AtomicInteger calls = new AtomicInteger();

    private static void closeOne(ArenaCloser closer) {
        closer.opening();
        Chunk chunk = new Chunk(closer);
        chunk.allocate(1 << 16);
        chunk.leave();
    }

    @Test
    void threadOutlivesWhateverIsThrownInIt() throws InterruptedException {
        ArenaCloser closer = new ArenaCloser(
                bytes -> {
                    if (calls.incrementAndGet() % 2 == 1) {
                        throw new InternalError("of a test");
                    }
                    givenBack.addAndGet(bytes);
                },
                0);
        for (int i = 0; i < 10; i++) {
            closeOne(closer);
            Await.until(() -> closer.open() == 0);
        }
        assertEquals(10, calls.get());
        assertEquals(5 << 16, givenBack.get());
        closer.end();
        assertTrue(closer.awaitNone(Duration.ofSeconds(60).toNanos()));
    }

    /// It would look by itself much later only.
    @Test
    void threadThatRestsIsWokenByTheLastLeaver() throws InterruptedException {
        AtomicReference<Thread> thread = new AtomicReference<>();
        ArenaCloser closer = new ArenaCloser(
                givenBack::addAndGet,
                0,
                fresh -> {
                    thread.set(fresh);
                    fresh.start();
                },
                Duration.ofDays(1).toNanos());
        for (int i = 1; i <= 3; i++) {
            closer.opening();
            Chunk chunk = new Chunk(closer);
            chunk.allocate(1 << 16);
            Await.until(() -> thread.get().getState() == Thread.State.TIMED_WAITING);
            chunk.leave();
            Await.until(() -> closer.open() == 0);
        }
        closer.end();
        assertTrue(closer.awaitNone(Duration.ofSeconds(60).toNanos()));
    }

    /// A thread that was refused memory would wait for bytes that came back long ago.
    @Test
    void bytesThatWereClosedAreNotWaitedFor() throws InterruptedException {
        ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0);
        closeOne(closer);
        Await.until(() -> closer.open() == 0);
        long deadline = System.nanoTime() + Duration.ofDays(1).toNanos();
        Thread refused = Thread.ofPlatform().daemon().start(() -> {
            while (closer.awaitClosed(deadline)) {}
        });
        assertTrue(refused.join(Duration.ofSeconds(60)));
        closer.end();
    }

    /// Everything that a thread could inherit from the first caller of a source.
    @Test
    void callersGroupAndClassLoaderAreNotTheThreads() throws Exception {
        ThreadGroup group = new ThreadGroup("caller");
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        ClassLoader loader = new ClassLoader() {};
        AtomicReference<ArenaSource> source = new AtomicReference<>();
        MemoryBudget budget = new MemoryBudget(64 << 20);
        Thread caller = new Thread(group, () -> {
            inherited.set("caller's");
            Thread.currentThread().setContextClassLoader(loader);
            source.set(ArenaSource.create(budget, null));
            Bytes.sealed(source.get(), 1 << 20).close();
        });
        caller.start();
        caller.join();
        Await.until(() -> source.get().openChunks() == 0);
        assertEquals(0, group.activeCount());
        Thread[] all = new Thread[1000];
        int count = rootGroup().enumerate(all);
        int found = 0;
        for (int i = 0; i < count; i++) {
            if (all[i].getName().equals("bulla-arena-closer")) {
                found++;
                assertSame(rootGroup(), all[i].getThreadGroup());
                assertSame(ClassLoader.getSystemClassLoader(), all[i].getContextClassLoader());
                assertTrue(all[i].isDaemon());
            }
        }
        assertTrue(found > 0);
        source.get().close(Duration.ofSeconds(60));
        assertNull(inherited.get());
    }

    @Test
    void interruptDoesNotEndTheThread() throws InterruptedException {
        ThreadGroup group = new ThreadGroup("caller");
        MemoryBudget budget = new MemoryBudget(64 << 20);
        ArenaSource source = ArenaSource.create(budget, null);
        Thread caller = new Thread(group, () -> Bytes.sealed(source, 1 << 20).close());
        caller.start();
        caller.join();
        // those of other tests' sources as well: they have to bear it, too
        for (int i = 0; i < 20; i++) {
            group.interrupt();
            interruptClosers();
            Bytes.sealed(source, 1 << 20).close();
            Await.until(() -> source.openChunks() == 0);
        }
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    private static void interruptClosers() {
        Thread[] all = new Thread[1000];
        int count = rootGroup().enumerate(all);
        for (int i = 0; i < count; i++) {
            if (all[i].getName().equals("bulla-arena-closer")) {
                all[i].interrupt();
            }
        }
    }

    private static ThreadGroup rootGroup() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        return root;
    }

    @Test
    void threadThatIsGoneIsStartedAgain() {
        AtomicInteger steps = new AtomicInteger();
        Daemon daemon = new Daemon("bulla-of-a-test", () -> {
            steps.incrementAndGet();
            return Daemon.DONE;
        });
        for (int i = 1; i <= 5; i++) {
            int wanted = i;
            Await.until(() -> {
                daemon.tryStart();
                return steps.get() >= wanted;
            });
        }
    }

    @Test
    void sourceThatCannotStartItsThreadRefusesAndIsAsBefore() throws InterruptedException {
        OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread, of a test");
        ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0, thread -> {
            if (calls.incrementAndGet() <= 3) {
                throw noThread;
            }
            thread.start();
        });
        for (int i = 1; i <= 3; i++) {
            assertSame(noThread, assertThrows(OutOfMemoryError.class, closer::opening));
            assertEquals(i, calls.get());
            assertEquals(0, closer.open());
        }
        assertTrue(closer.awaitNone(0), "nothing is open that was refused");
        closeOne(closer);
        Await.until(() -> closer.open() == 0);
        assertEquals(4, calls.get());
        assertEquals(1 << 16, givenBack.get());
        closer.end();
    }

    @Test
    void chunkOfAClosedSourceIsRefusedByName() {
        ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0);
        closer.end();
        assertEquals(
                "memory source already closed: openChunks=0",
                assertThrows(IllegalStateException.class, closer::opening).getMessage());
        assertEquals(0, closer.open());
    }
}
