// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static io.bulla.posix.fixtures.SendFixture.random;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.socket.Outbox;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.posix.socket.SendPath;
import io.bulla.posix.socket.ZeroCopySocket;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A user's release, or a listener of handles, throws: one failure keeps back nothing of what comes behind it.
@ExtendWith(NothingStays.class)
class ThrowingReleasesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SENDS = 10;

    private final AtomicInteger released = new AtomicInteger();

    /// Memory whose release counts, then fails.
    private SealedBuffer failing(Arena arena, int number, int size) {
        MemorySegment memory = arena.allocate(size);
        return SealedBuffer.adopt(memory, () -> {
            released.incrementAndGet();
            throw new IllegalStateException("release " + number);
        });
    }

    private static Outbox open(SendPath path) {
        Outbox outbox = Outbox.open(path);
        Piece.IO_URING.orSkip(outbox.path() == path ? null : "path=" + outbox.path() + " wanted=" + path);
        return outbox;
    }

    private static Throwable failureOf(Outbox outbox) {
        try {
            outbox.close();
            return null;
        } catch (RuntimeException failure) {
            return failure;
        }
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void closeOfAnOutboxGivesEverySendBackAndThrowsTheFirstFailure(SendPath path) throws Exception {
        PosixSocket[] pair = SendFixture.tcpPair();
        try (Arena arena = Arena.ofShared()) {
            Outbox outbox = open(path);
            for (int i = 0; i < SENDS; i++) {
                outbox.moveAndSend(pair[0], failing(arena, i, 100));
            }
            Throwable failure = failureOf(outbox);
            assertEquals(SENDS, released.get());
            assertEquals("release 0", failure.getMessage());
            assertEquals(SENDS - 1, failure.getSuppressed().length);
            assertEquals(0, outbox.unfinished());
            // again is harmless, and says nothing again
            outbox.close();
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void progressDoesEverySendThoughEachReleaseThrows(SendPath path) throws Exception {
        List<PosixSocket[]> pairs = new ArrayList<>();
        try (Arena arena = Arena.ofShared();
                Outbox outbox = open(path)) {
            for (int i = 0; i < SENDS; i++) {
                // two on each socket, so that one waits behind one that fails
                if (i % 2 == 0) {
                    pairs.add(PosixSocket.unixPair());
                }
                outbox.moveAndSend(pairs.getLast()[0], failing(arena, i, 100));
            }
            List<Throwable> failures = new ArrayList<>();
            for (long end = System.nanoTime() + PATIENCE.toNanos();
                    outbox.unfinished() > 0 && System.nanoTime() - end < 0; ) {
                try {
                    outbox.progress(100);
                } catch (IllegalStateException failure) {
                    failures.add(failure);
                    failures.addAll(List.of(failure.getSuppressed()));
                }
            }
            assertEquals(0, outbox.unfinished());
            assertEquals(SENDS, released.get());
            assertEquals(SENDS, failures.size());
            for (PosixSocket[] pair : pairs) {
                assertEquals(200, SendFixture.receive(pair[1], 200).length);
            }
        } finally {
            for (PosixSocket[] pair : pairs) {
                pair[0].close();
                pair[1].close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void sendsBehindOneThatFailsEndThoughReleasesThrow(SendPath path) throws Exception {
        PosixSocket[] pair = SendFixture.tcpPair();
        try (Arena arena = Arena.ofShared();
                Outbox outbox = open(path)) {
            pair[1].abort();
            for (int i = 0; i < SENDS; i++) {
                outbox.moveAndSend(pair[0], failing(arena, i, 100_000));
            }
            for (long end = System.nanoTime() + PATIENCE.toNanos();
                    outbox.unfinished() > 0 && System.nanoTime() - end < 0; ) {
                try {
                    outbox.progress(100);
                } catch (IllegalStateException failure) {
                    assertTrue(failure.getMessage().startsWith("release "), failure::getMessage);
                }
            }
            assertEquals(0, outbox.unfinished());
            assertEquals(SENDS, released.get());
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }

    /// Tells a tally, and throws at closes while it is told to.
    private static final class Listener implements LeaseTrace {

        private final LeaseTally handles = new LeaseTally();
        // volatile: set by the test, read by the lender's thread
        private volatile boolean throwsAtCloses;

        @Override
        public @Nullable Object opened(Lease lease, RefCount count, @Nullable Object tag) {
            return handles.opened(lease, count, tag);
        }

        @Override
        public void closed(Lease lease, Object traced) {
            handles.closed(lease, traced);
            if (throwsAtCloses) {
                throw new IllegalStateException("a listener");
            }
        }
    }

    @Test
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void leasesThatComeBackInOnePieceAreAllTakenBackThoughEachCloseThrows(@TempDir Path parent) throws Exception {
        Path folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Listener listener = new Listener();
        MemoryBudget budget = new MemoryBudget(32 * SlabSource.SLAB);
        ArenaSource copies = ArenaSource.create();
        SharedSlabSource memory =
                SharedSlabSource.create(SlabSource.builder().budget(budget).trace(listener));
        int leases = 60;
        try (SlabLender lender = SlabLender.open(folder, memory, SlabQuota.standard());
                Liar borrower = Liar.greeted(lender.path())) {
            SlabPeer peer = lender.accept(PATIENCE);
            List<SlabRecord> lent = new ArrayList<>();
            for (int i = 0; i < leases; i++) {
                try (SealedBuffer message =
                        BufferBuilder.create(memory).put(random(100)).seal()) {
                    assertTrue(peer.lend(message));
                }
                lent.add(borrower.receive());
            }
            listener.throwsAtCloses = true;
            java.nio.ByteBuffer words = java.nio.ByteBuffer.allocate(16 * leases);
            lent.forEach(
                    each -> words.putInt(each.slot()).putInt(each.generation()).putLong(each.slab()));
            borrower.say(words.array());
            SlabLendingTest.await(() -> peer.leases() == 0);
            listener.throwsAtCloses = false;
            assertEquals(null, peer.gone());
            assertEquals(leases, lender.figures().failures());
            try (SealedBuffer message =
                    BufferBuilder.create(memory).put(random(100)).seal()) {
                assertTrue(peer.lend(message));
            }
            borrower.receive();
        }
        memory.close(PATIENCE);
        copies.close(PATIENCE);
        assertEquals(0, listener.handles.open());
        assertEquals(0, budget.used());
    }

    @Test
    void zeroCopySocketTakesUpEveryNotificationThoughReleasesThrow() throws Exception {
        PosixSocket[] pair = SendFixture.tcpPair();
        try (Arena arena = Arena.ofShared()) {
            ZeroCopySocket socket;
            try {
                socket = ZeroCopySocket.over(pair[0]);
            } catch (PosixException unavailable) {
                Piece.IO_URING.orSkip(unavailable);
                return;
            }
            for (int i = 0; i < SENDS; i++) {
                socket.moveAndSend(failing(arena, i, 100));
            }
            assertThrows(IllegalStateException.class, socket::close);
            socket.close();
            assertEquals(SENDS, released.get());
            assertTrue(socket.isFinished());
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }
}
