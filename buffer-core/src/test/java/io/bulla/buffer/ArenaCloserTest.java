// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.internal.Daemon;
import io.bulla.refcount.internal.StillHeld;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// The thread that closes arenas survives any Throwable, and belongs to no caller's group or class loader.
class ArenaCloserTest {

    private static final long DAY = Duration.ofDays(1).toNanos();

    private final AtomicLong givenBack = new AtomicLong();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicReference<Thread> thread = new AtomicReference<>();

    /// Its thread would look by itself a day later only.
    private ArenaCloser resting() {
        return new ArenaCloser(
                givenBack::addAndGet,
                0,
                fresh -> {
                    thread.set(fresh);
                    fresh.start();
                },
                DAY);
    }

    private void awaitRest() {
        Await.until(() -> thread.get().getState() == Thread.State.TIMED_WAITING);
    }

    private void awaitEnd() throws InterruptedException {
        assertTrue(thread.get().join(Duration.ofSeconds(60)));
    }

    private static AloneRegion checked(ArenaCloser closer, long bytes) {
        closer.opening();
        Chunk chunk = new Chunk(closer);
        return new AloneRegion(chunk, closer, chunk.allocate(bytes), true);
    }

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

    /// A closer whose thread never comes: the test is the thread.
    private ArenaCloser threadless(List<String> lines) {
        return new ArenaCloser(
                givenBack::addAndGet, 0, fresh -> {}, DAY, new StillHeld("chunks", 0, () -> "the test", lines::add));
    }

    private static void closeOne(ArenaCloser closer, long bytes) {
        closer.opening();
        Chunk chunk = new Chunk(closer);
        chunk.allocate(bytes);
        chunk.leave();
    }

    @Test
    void takerClosesArenasOnlyWhileMoreThanSixteenMebibytesWait() {
        ArenaCloser closer = threadless(new ArrayList<>());
        for (int i = 0; i < 4; i++) {
            closeOne(closer, 8 << 20);
        }
        closer.keepUp();
        assertEquals(2, closer.open(), "16 MiB may wait");
        closer.keepUp();
        assertEquals(2, closer.open());
        closeOne(closer, 1);
        closer.keepUp();
        assertEquals(2, closer.open());
        closer.end();
    }

    @Test
    void allPoisonedRegionsAreTakenAtOnce() {
        ArenaCloser closer = threadless(new ArrayList<>());
        for (int i = 0; i < 3; i++) {
            checked(closer, 1 << 16).release();
        }
        assertEquals(0, closer.step(), "there was work");
        assertEquals(0, closer.step(), "without a quarantine they are closed next");
        closer.step();
        closer.step();
        assertEquals(0, closer.open());
        assertEquals(3 << 16, givenBack.get());
        closer.end();
    }

    @Test
    void chunkThatIsClosedIsNotTriedAgain() {
        ArenaCloser closer = threadless(new ArrayList<>());
        closer.opening();
        closeOne(closer, 1 << 16);
        for (int i = 0; i < 3; i++) {
            closer.step();
            // the first pause between two tries
            Await.pause(10);
        }
        assertEquals(1, closer.open());
        assertEquals(1 << 16, givenBack.get());
        closer.gone();
        closer.end();
    }

    @Test
    void whatIsHeldIsSaidOnceTheSourceHasEnded() {
        List<String> lines = new ArrayList<>();
        ArenaCloser closer = threadless(lines);
        closer.opening();
        for (int i = 0; i < 3; i++) {
            assertEquals(DAY, closer.step());
        }
        assertEquals(List.of(), lines);
        closer.end();
        for (int i = 0; i < 3; i++) {
            assertEquals(DAY, closer.step());
        }
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.getFirst().contains("chunks=1"), lines.getFirst());
        closer.gone();
        assertEquals(Daemon.DONE, closer.step());
    }

    @Test
    void threadWaitsForTheTrimThatIsWorthItAndNoLonger() {
        ArenaCloser closer = threadless(new ArrayList<>());
        closer.opening();
        closeOne(closer, 8 << 20);
        assertEquals(0, closer.step());
        long before = System.nanoTime();
        while (System.nanoTime() == before) {
            Thread.onSpinWait();
        }
        long wait = closer.step();
        assertTrue(closer.trims() == 1 || wait > 0 && wait < ArenaCloser.IDLE_NANOS, () -> "wait=" + wait);
        closer.end();
    }

    @Test
    void threadThatRestsIsWokenByTheLastLeaver() throws InterruptedException {
        ArenaCloser closer = resting();
        for (int i = 1; i <= 3; i++) {
            closer.opening();
            Chunk chunk = new Chunk(closer);
            chunk.allocate(1 << 16);
            awaitRest();
            chunk.leave();
            Await.until(() -> closer.open() == 0);
        }
        closer.end();
        assertTrue(closer.awaitNone(Duration.ofSeconds(60).toNanos()));
    }

    @Test
    void threadThatRestsIsWokenByAPoisonedRegion() throws InterruptedException {
        ArenaCloser closer = resting();
        AloneRegion region = checked(closer, 1 << 16);
        awaitRest();
        region.release();
        Await.until(() -> closer.open() == 0);
        assertEquals(1 << 16, givenBack.get());
        closer.end();
        awaitEnd();
    }

    @Test
    void threadThatRestsIsWokenByWhoWantsATrim() throws InterruptedException {
        ArenaCloser closer = resting();
        closer.trim();
        Await.until(() -> closer.trims() == 1);
        awaitRest();
        closer.trim();
        Await.until(() -> closer.trims() == 2);
        closer.end();
        awaitEnd();
    }

    @Test
    void threadThatRestsIsWokenByTheEnd() throws InterruptedException {
        ArenaCloser closer = resting();
        closeOne(closer);
        Await.until(() -> closer.open() == 0);
        awaitRest();
        closer.end();
        awaitEnd();
    }

    /// The thread is not the one that closes it.
    @Test
    void threadOfAnEndedSourceEndsWithTheLastChunk() throws InterruptedException {
        ArenaCloser closer = resting();
        closer.opening();
        closer.end();
        Await.pause(50);
        awaitRest();
        assertEquals(1, closer.open());
        closer.gone();
        awaitEnd();
    }

    @Test
    void threadThatComesLateClosesAllThatWait() throws InterruptedException {
        ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0, thread::set, DAY);
        for (int i = 0; i < 3; i++) {
            closeOne(closer);
        }
        assertEquals(3, closer.open());
        thread.get().start();
        Await.until(() -> closer.open() == 0);
        assertEquals(3 << 16, givenBack.get());
        closer.end();
        awaitEnd();
    }

    @Test
    void muchThatWasClosedIsTrimmedHalfASecondLater() throws InterruptedException {
        ArenaCloser closer = resting();
        closer.opening();
        Chunk chunk = new Chunk(closer);
        chunk.allocate(8 << 20);
        long begun = System.nanoTime();
        chunk.leave();
        Await.until(() -> closer.open() == 0);
        awaitRest();
        long trims = closer.trims();
        assertTrue(trims == 0 || System.nanoTime() - begun >= ArenaCloser.IDLE_NANOS, "at once");
        Await.until(() -> closer.trims() == 1);
        closer.end();
        awaitEnd();
    }

    @Test
    void chunkInASystemCallIsTriedAgainBeforeTheThreadRests() throws Exception {
        ArenaCloser closer = resting();
        closer.opening();
        Chunk chunk = new Chunk(closer);
        ByteBuffer bytes = chunk.allocate(1 << 20).asByteBuffer();
        Pipe pipe = Pipe.open();
        // one call: a pipe has no room for all
        Thread call = Thread.ofPlatform().start(() -> {
            try (Pipe.SinkChannel sink = pipe.sink()) {
                while (bytes.hasRemaining()) {
                    sink.write(bytes);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        ByteBuffer received = ByteBuffer.allocate(1 << 20);
        pipe.source().read(received.limit(1));
        chunk.leave();
        Await.pause(50);
        awaitRest();
        assertEquals(1, closer.open());
        received.limit(1 << 20);
        while (received.hasRemaining() && pipe.source().read(received) >= 0) {}
        call.join();
        pipe.source().close();
        Await.until(() -> closer.open() == 0);
        assertEquals(1 << 20, givenBack.get());
        closer.end();
        awaitEnd();
    }

    /// Poisoned bytes are the thread's: one that was refused memory waits until it has taken them.
    @Test
    void poisonedBytesAreWaitedForWithAThreadThatIsStartedAgain() throws InterruptedException {
        ArenaCloser closer = new ArenaCloser(
                givenBack::addAndGet,
                1 << 20,
                fresh -> {
                    // those before get no processor
                    if (calls.incrementAndGet() == 3) {
                        fresh.start();
                    }
                },
                DAY);
        checked(closer, 1 << 16).release();
        assertFalse(closer.awaitClosed(System.nanoTime() - 1), "no time is left");
        assertEquals(2, calls.get());
        AtomicBoolean came = new AtomicBoolean();
        Thread refused =
                Thread.ofPlatform().daemon().start(() -> came.set(closer.awaitClosed(System.nanoTime() + DAY)));
        assertTrue(refused.join(Duration.ofSeconds(60)));
        assertTrue(came.get());
        assertEquals(3, calls.get());
        assertFalse(closer.awaitClosed(System.nanoTime() + DAY), "nothing waits any more");
        assertEquals(1, closer.open(), "it is in quarantine");
        closer.end();
        Await.until(() -> closer.open() == 0);
        assertEquals(1 << 16, givenBack.get());
    }

    @Test
    void waitForTheEndStartsTheThreadAgain() throws InterruptedException {
        ArenaCloser closer = new ArenaCloser(givenBack::addAndGet, 0, fresh -> calls.incrementAndGet());
        closeOne(closer);
        assertEquals(1, calls.get());
        assertTrue(closer.awaitNone(0));
        assertEquals(2, calls.get());
        assertTrue(closer.awaitNone(0));
        assertEquals(2, calls.get(), "nothing is left to do");
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
