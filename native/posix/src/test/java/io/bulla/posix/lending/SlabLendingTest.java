// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pool.SlabSource;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// A lender and its borrowers in one process: each has mappings and descriptors of its own.
@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class SlabLendingTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LONG = Duration.ofDays(1);
    private static final long LIMIT = 64 << 20;

    private final LeaseLedger ledger = LeaseLedger.full();
    private final MemoryBudget budget = new MemoryBudget(32 * SlabSource.SLAB);
    private final ArenaSource copies = ArenaSource.create();

    @TempDir
    private Path parent;

    private Path folder;
    private SharedSlabSource memory;
    private SlabLender lender;

    @BeforeEach
    void open() throws IOException {
        folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        memory = SharedSlabSource.create(SlabSource.builder().budget(budget).trace(ledger));
        lend(SlabQuota.standard());
    }

    private void lend(SlabQuota quota) throws IOException {
        if (lender != null) {
            lender.close();
        }
        lender = SlabLender.open(folder, memory, quota);
    }

    @AfterEach
    void nothingIsLent() throws Exception {
        lender.close(PATIENCE);
        assertEquals(List.of(), List.of(folder.toFile().list()));
        assertEquals(List.of(), ledger.open());
        memory.close(PATIENCE);
        assertEquals(0, budget.used());
        copies.close(PATIENCE);
    }

    static void await(BooleanSupplier wanted) {
        for (int wait = 0; wait < 60_000 && !wanted.getAsBoolean(); wait++) {
            LockSupport.parkNanos(1_000_000);
        }
        assertTrue(wanted.getAsBoolean());
    }

    private SlabBorrower connect(long token) throws IOException {
        return SlabBorrower.connect(lender.path(), token, copies, LIMIT);
    }

    private SlabPeer accepted() throws InterruptedException {
        SlabPeer peer = lender.accept(PATIENCE);
        assertNotNull(peer);
        return peer;
    }

    private SealedBuffer sealed(int size) {
        return sealed(memory, size);
    }

    private static SealedBuffer sealed(MemorySource source, int size) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, size))) {
            return builder.put(SendFixture.random(size)).seal();
        }
    }

    private static byte[] bytesOf(SealedBuffer buffer) {
        return buffer.toByteArray();
    }

    @Test
    void messageOfAnySizeIsLentAndGivenBack() throws Exception {
        try (SlabBorrower borrower = connect(17)) {
            SlabPeer peer = accepted();
            assertEquals(17, peer.token());
            assertEquals(ProcessHandle.current().pid(), peer.pid());
            for (int size : new int[] {1, 100, 300_000, 5 << 20}) {
                try (SealedBuffer message = sealed(size)) {
                    assertTrue(peer.lend(message));
                }
                assertEquals(1, peer.leases());
                assertEquals(size, peer.bytes());
                SealedBuffer received = borrower.receive();
                assertArrayEquals(SendFixture.random(size), bytesOf(received));
                try (SealedBuffer slice = received.slice(size / 2, size - size / 2)) {
                    received.close();
                    assertEquals(
                            SendFixture.random(size)[size / 2], slice.iovec().getByte(0));
                    assertEquals(1, peer.leases());
                }
                await(() -> peer.leases() == 0 && peer.bytes() == 0);
                await(() -> ledger.open().isEmpty());
            }
        }
    }

    @Test
    void slabIsMappedOnceAndHandedOverOnce() throws Exception {
        try (SlabBorrower borrower = connect(1)) {
            SlabPeer peer = accepted();
            long before = Descriptors.mappings("/memfd:" + Memfd.NAME);
            for (int i = 0; i < 1000; i++) {
                try (SealedBuffer message = sealed(1000 + i)) {
                    assertTrue(peer.lend(message));
                }
                try (SealedBuffer received = borrower.receive()) {
                    assertEquals(1000 + i, received.byteSize());
                }
            }
            // the owner's and the borrower's
            assertEquals(before + 2, Descriptors.mappings("/memfd:" + Memfd.NAME));
        }
    }

    @Test
    void ledgerNamesTheBorrower() throws Exception {
        try (SlabBorrower borrower = connect(42);
                SealedBuffer message = sealed(10)) {
            accepted().lend(message);
            assertTrue(
                    ledger.summary()
                            .contains("borrower pid=" + ProcessHandle.current().pid() + " token=42"),
                    ledger::summary);
            borrower.receive().close();
        }
    }

    @Test
    void whatCannotBeLentComesAsBytes() throws Exception {
        try (SlabBorrower borrower = connect(1);
                SealedBuffer foreign = sealed(copies, 70_000);
                SealedBuffer empty = sealed(memory, 0);
                SealedBuffer one = sealed(10);
                SealedBuffer two = SealedBuffer.concat(one, foreign)) {
            SlabPeer peer = accepted();
            for (SealedBuffer each : new SealedBuffer[] {foreign, empty, two}) {
                assertFalse(peer.lend(each));
                CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(() -> {
                    try (SealedBuffer buffer = borrower.receive()) {
                        return bytesOf(buffer);
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                assertFalse(peer.send(each));
                assertArrayEquals(bytesOf(each), received.get(60, TimeUnit.SECONDS));
            }
            assertTrue(peer.send(one));
            borrower.receive().close();
        }
    }

    /// Memory that is used again is behind its stamp, also for what came as bytes.
    @Test
    void bytesInAPoolAreReadUntilTheLastCloseAndNoLonger() throws Exception {
        LeaseLedger handles = LeaseLedger.full();
        SlabSource pool = SlabSource.builder().trace(handles).build();
        try (SlabBorrower borrower = SlabBorrower.connect(lender.path(), 1, pool, LIMIT);
                SealedBuffer foreign = sealed(copies, 1000)) {
            assertFalse(accepted().send(foreign));
            SealedBuffer received = borrower.receive();
            assertEquals(1, handles.open().size());
            IoVec kept = received.iovec();
            assertArrayEquals(SendFixture.random(1000), bytesOf(received));
            received.close();
            try (SealedBuffer next = sealed(pool, 1000)) {
                assertEquals(1000, next.byteSize());
                assertThrows(IllegalStateException.class, () -> kept.getByte(0));
            }
        }
        assertEquals(List.of(), handles.open());
        pool.close(PATIENCE);
    }

    @Test
    void overTheQuotaThatPeerGetsBytesAndTheOthersGoOn() throws Exception {
        lend(new SlabQuota(2, 1000));
        try (SlabBorrower slow = connect(1);
                SlabBorrower quick = connect(2);
                SealedBuffer large = sealed(1001);
                SealedBuffer message = sealed(400)) {
            SlabPeer toSlow = accepted();
            SlabPeer toQuick = accepted();
            if (toSlow.token() == 2) {
                SlabPeer first = toSlow;
                toSlow = toQuick;
                toQuick = first;
            }
            assertFalse(toSlow.lend(large));
            assertTrue(toSlow.lend(message));
            assertTrue(toSlow.lend(message));
            assertFalse(toSlow.send(message));
            assertTrue(toQuick.send(message));
            quick.receive().close();
            SealedBuffer[] received = {slow.receive(), slow.receive(), slow.receive()};
            for (SealedBuffer each : received) {
                assertArrayEquals(SendFixture.random(400), bytesOf(each));
                each.close();
            }
            SlabPeer peer = toSlow;
            await(() -> peer.leases() == 0);
            assertTrue(toSlow.lend(message));
            slow.receive().close();
        }
    }

    /// As a stopped process: the socket fills up, no thread waits, and what it has is bounded.
    @Test
    void borrowerThatDoesNotReadPinsItsQuotaAndNothingElse() throws Exception {
        lend(new SlabQuota(100_000, LIMIT));
        try (SlabBorrower stopped = connect(1);
                SealedBuffer message = sealed(100)) {
            SlabPeer peer = accepted();
            int lent = 0;
            while (peer.lend(message)) {
                lent++;
            }
            assertTrue(lent > 10 && lent < 100_000, "lent=" + lent);
            assertEquals(lent, peer.leases());
            try (SlabBorrower other = connect(2)) {
                assertTrue(accepted().lend(message));
                other.receive().close();
            }
            for (int i = 0; i < lent; i++) {
                stopped.receive().close();
            }
            await(() -> peer.leases() == 0);
            assertTrue(peer.lend(message));
            stopped.receive().close();
        }
    }

    @Test
    void borrowerThatClosesKeepsItsBuffersAndGivesThemBackOneByOne() throws Exception {
        SlabBorrower borrower = connect(1);
        SlabPeer peer = accepted();
        List<SealedBuffer> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try (SealedBuffer message = sealed(50_000)) {
                peer.lend(message);
            }
            held.add(borrower.receive());
        }
        borrower.close();
        borrower.close();
        assertThrows(EOFException.class, borrower::receive);
        // other messages do not get their memory
        for (int i = 0; i < 100; i++) {
            sealed(memory, 49_000).close();
        }
        for (int i = 3; i > 0; i--) {
            int left = i;
            await(() -> peer.leases() == left);
            assertArrayEquals(SendFixture.random(50_000), bytesOf(held.get(i - 1)));
            held.get(i - 1).close();
        }
        await(() -> lender.figures().peers() == 0);
        try (SealedBuffer message = sealed(10)) {
            assertThrows(PosixException.PeerClosed.class, () -> peer.lend(message));
        }
        assertEquals(0, peer.leases());
    }

    @Test
    void closeWakesTheThreadThatReceives() throws Exception {
        SlabBorrower borrower = connect(1);
        accepted();
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread waits = Thread.ofPlatform().start(() -> {
            try {
                borrower.receive().close();
                ended.complete(null);
            } catch (Throwable end) {
                ended.complete(end);
            }
        });
        await(() -> waits.getState() == Thread.State.RUNNABLE);
        borrower.close();
        assertInstanceOf(EOFException.class, ended.get(60, TimeUnit.SECONDS));
        waits.join();
        assertThrows(EOFException.class, borrower::receive);
    }

    @Test
    void lenderThatClosesLeavesWhatIsLent() throws Exception {
        SealedBuffer held;
        try (SlabBorrower borrower = connect(1)) {
            SlabPeer peer = accepted();
            try (SealedBuffer message = sealed(9999)) {
                peer.lend(message);
            }
            held = borrower.receive();
            lender.close();
            assertThrows(EOFException.class, borrower::receive);
            assertThrows(IllegalStateException.class, () -> lender.close(Duration.ofMillis(20)));
            assertEquals(1, lender.figures().quarantined());
        }
        memory.close();
        assertArrayEquals(SendFixture.random(9999), bytesOf(held));
        held.close();
        lender.close(PATIENCE);
        assertEquals(0, lender.figures().leases());
    }

    @Test
    void readAfterTheLastCloseIsAnException() throws Exception {
        try (SlabBorrower borrower = connect(1)) {
            SlabPeer peer = accepted();
            try (SealedBuffer message = sealed(100)) {
                peer.lend(message);
            }
            SealedBuffer received = borrower.receive();
            var stamped = received.iovec();
            MemorySegment raw = stamped.region(0);
            assertTrue(raw.isReadOnly());
            assertEquals(SendFixture.random(100)[7], raw.get(ValueLayout.JAVA_BYTE, 7));
            assertThrows(IllegalArgumentException.class, () -> raw.set(ValueLayout.JAVA_BYTE, 7, (byte) 1));
            received.close();
            assertThrows(ReleasedBufferException.class, received::iovec);
            assertThrows(IllegalStateException.class, () -> stamped.getByte(0));
            // given back only once the raw view throws
            await(() -> peer.leases() == 0);
            assertThrows(IllegalStateException.class, () -> raw.get(ValueLayout.JAVA_BYTE, 7));
            // and the slab is good for the next
            try (SealedBuffer message = sealed(200)) {
                peer.lend(message);
            }
            try (SealedBuffer next = borrower.receive()) {
                assertArrayEquals(SendFixture.random(200), bytesOf(next));
            }
        }
    }

    /// As soon as the lease goes back, the lender may write the memory again.
    @Test
    void readsThrowBeforeTheLeaseGoesBack() throws Exception {
        try (SlabBorrower borrower = connect(1)) {
            SlabPeer peer = accepted();
            try (SealedBuffer message = sealed(100)) {
                peer.lend(message);
            }
            SealedBuffer received = borrower.receive();
            var stamped = received.iovec();
            Thread closes = Thread.currentThread();
            List<Boolean> thrown = new ArrayList<>();
            SyscallInterceptor.watch((call, arguments) -> {
                if (call.equals("sendmsg") && Thread.currentThread() == closes) {
                    thrown.add(throwsNow(stamped));
                }
                return 0;
            });
            try {
                received.close();
            } finally {
                SyscallInterceptor.watch(null);
            }
            assertEquals(List.of(true), thrown);
            await(() -> peer.leases() == 0);
        }
    }

    private static boolean throwsNow(IoVec stamped) {
        try {
            stamped.getByte(0);
            return false;
        } catch (IllegalStateException ended) {
            return true;
        }
    }

    @Test
    void rawViewBesideAnOpenBufferOfTheSameSlab() throws Exception {
        try (SlabBorrower borrower = connect(1)) {
            SlabPeer peer = accepted();
            for (int i = 0; i < 2; i++) {
                try (SealedBuffer message = sealed(100)) {
                    peer.lend(message);
                }
            }
            SealedBuffer viewed = borrower.receive();
            SealedBuffer other = borrower.receive();
            MemorySegment raw = viewed.iovec().region(0);
            viewed.close();
            // the other one keeps the mapping; the view's memory is not written meanwhile
            for (int i = 0; i < 300; i++) {
                sealed(memory, 100).close();
                assertEquals(SendFixture.random(100)[7], raw.get(ValueLayout.JAVA_BYTE, 7));
            }
            assertEquals(2, peer.leases());
            assertArrayEquals(SendFixture.random(100), bytesOf(other));
            other.close();
            await(() -> peer.leases() == 0);
            assertThrows(IllegalStateException.class, () -> raw.get(ValueLayout.JAVA_BYTE, 7));
        }
    }

    @Test
    void slabIsRetiredOnceTheBorrowerHasUnmappedIt() throws Exception {
        try (SlabBorrower borrower = connect(1)) {
            SlabPeer peer = accepted();
            long before = Descriptors.mappings("/memfd:" + Memfd.NAME);
            for (int round = 0; round < 3; round++) {
                try (SealedBuffer message = sealed(3 << 20)) {
                    assertTrue(peer.lend(message));
                }
                borrower.receive().close();
                await(() -> peer.leases() == 0);
                CompletableFuture<SealedBuffer> next = CompletableFuture.supplyAsync(() -> {
                    try {
                        return borrower.receive();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
                await(() -> {
                    memory.trim();
                    return budget.used() == 0;
                });
                Descriptors.assertMapped(before, "/memfd:" + Memfd.NAME);
                try (SealedBuffer message = sealed(10)) {
                    assertTrue(peer.lend(message));
                }
                next.get(60, TimeUnit.SECONDS).close();
            }
        }
    }

    @Test
    void recordThatIsCarriedElsewhereIsOpenedAndGivenBack() throws Exception {
        try (SlabBorrower borrower = connect(17)) {
            SlabPeer peer = accepted();
            for (int size : new int[] {1, 5_000, 3 << 20}) {
                try (SealedBuffer message = sealed(size)) {
                    ByteBuffer carried =
                            ByteBuffer.allocate(SlabPeer.RECORD_BYTES + 3).position(2);
                    assertTrue(peer.lend(message, carried));
                    assertEquals(2 + SlabPeer.RECORD_BYTES, carried.position());
                    try (SealedBuffer received = borrower.open(carried.flip().position(2))) {
                        assertArrayEquals(bytesOf(message), bytesOf(received));
                        assertEquals(1, peer.leases());
                    }
                    await(() -> peer.leases() == 0);
                }
            }
        }
    }

    @Test
    void recordThatIsNoLeaseIsRefusedAndTheOthersStay() throws Exception {
        try (SlabBorrower borrower = connect(17)) {
            SlabPeer peer = accepted();
            try (SealedBuffer message = sealed(100)) {
                ByteBuffer carried = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
                assertTrue(peer.lend(message, carried));
                ByteBuffer unknownSlab =
                        ByteBuffer.wrap(carried.array().clone()).putLong(0, 4711);
                ByteBuffer noSlot = ByteBuffer.wrap(carried.array().clone()).putInt(8, -2);
                ByteBuffer tooLong = ByteBuffer.wrap(carried.array().clone()).putLong(24, 1L << 40);
                ByteBuffer negative = ByteBuffer.wrap(carried.array().clone()).putLong(16, -1);
                for (ByteBuffer wrong : List.of(unknownSlab, noSlot, tooLong, negative)) {
                    assertThrows(SealRefusedException.class, () -> borrower.open(wrong));
                }
                assertThrows(BufferUnderflowException.class, () -> borrower.open(ByteBuffer.allocate(31)));
                assertThrows(BufferOverflowException.class, () -> peer.lend(message, ByteBuffer.allocate(31)));
                assertEquals(1, peer.leases());
                try (SealedBuffer received = borrower.open(carried.flip())) {
                    assertArrayEquals(bytesOf(message), bytesOf(received));
                }
            }
        }
    }

    @Test
    void recordsThatGetLostEndWithTheString() throws Exception {
        SlabPeer peer;
        try (SlabBorrower _ = connect(17)) {
            peer = accepted();
            try (SealedBuffer message = sealed(100)) {
                for (int i = 0; i < 10; i++) {
                    assertTrue(peer.lend(message, ByteBuffer.allocate(SlabPeer.RECORD_BYTES)));
                }
            }
            assertEquals(10, peer.leases());
        }
        await(() -> peer.leases() == 0);
    }

    @Test
    void borrowerThatListensUnmapsWhatIsWantedBack() throws Exception {
        try (SlabBorrower borrower = connect(17)) {
            SlabPeer peer = accepted();
            ByteBuffer carried = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
            try (SealedBuffer message = sealed(100)) {
                assertTrue(peer.lend(message, carried));
            }
            borrower.open(carried.flip()).close();
            await(() -> peer.leases() == 0);
            await(() -> {
                memory.trim();
                try {
                    borrower.listen();
                } catch (IOException failure) {
                    throw new AssertionError(failure);
                }
                return budget.used() == 0;
            });
            assertNull(peer.gone());
        }
    }

    @Test
    void manyThreadsLendAndClose() throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            SlabBorrower borrower = connect(t);
            SlabPeer peer = accepted();
            int seed = t;
            threads.add(Thread.ofPlatform().unstarted(() -> {
                try {
                    for (int i = 0; i < 2000; i++) {
                        byte[] bytes = new byte[64 + 37 * (i % 700)];
                        Arrays.fill(bytes, (byte) (i + seed));
                        try (BufferBuilder builder = BufferBuilder.create(memory);
                                SealedBuffer message = builder.put(bytes).seal()) {
                            peer.send(message);
                        }
                    }
                } catch (Throwable failure) {
                    add(failures, failure);
                }
            }));
            threads.add(Thread.ofPlatform().unstarted(() -> {
                try (borrower) {
                    for (int i = 0; i < 2000; i++) {
                        try (SealedBuffer received = borrower.receive()) {
                            byte[] bytes = bytesOf(received);
                            for (byte each : bytes) {
                                assertEquals((byte) (i + seed), each);
                            }
                        }
                    }
                } catch (Throwable failure) {
                    add(failures, failure);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread each : threads) {
            each.join();
        }
        assertEquals(List.of(), failures);
        await(() -> lender.figures().peers() == 0);
        assertEquals(0, lender.figures().leases());
        assertEquals(0, lender.figures().cutOff());
    }

    private static void add(List<Throwable> failures, Throwable failure) {
        synchronized (failures) {
            failures.add(failure);
        }
    }

    @Test
    void folderOfOthersIsRefused() throws IOException {
        Path open = Files.createDirectory(
                parent.resolve("o"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
        IOException refused =
                assertThrows(IOException.class, () -> SlabLender.open(open, memory, SlabQuota.standard()));
        assertTrue(refused.getMessage().contains("mode=rwxr-x---"), refused::getMessage);
        Path link = Files.createSymbolicLink(parent.resolve("l"), folder);
        assertThrows(IOException.class, () -> SlabLender.open(link, memory, SlabQuota.standard()));
    }

    @Test
    void socketOfADeadLenderGoesAndOneOfALivingStays() throws Exception {
        Path dead = folder.resolve("slabs-0123456789abcdef");
        PosixSocket.listen(dead).close();
        assertTrue(Files.exists(dead));
        try (SlabLender second = SlabLender.open(folder, memory, SlabQuota.standard())) {
            assertFalse(Files.exists(dead));
            assertTrue(Files.exists(lender.path()));
            second.close(PATIENCE);
            assertFalse(Files.exists(second.path()));
        }
    }

    @Test
    void whatIsNoLenderIsRefused() throws Exception {
        Path path = folder.resolve("other");
        try (PosixSocket other = PosixSocket.listen(path)) {
            CompletableFuture<Void> answered = CompletableFuture.runAsync(() -> {
                try (PosixSocket socket = other.accept();
                        Arena arena = Arena.ofConfined()) {
                    // a socket that is closed with bytes unread resets its peer
                    Rights.receive(SocketDoor.stream(socket), arena.allocate(SlabRecord.TO_LENDER, 8))
                            .close();
                    Rights.send(SocketDoor.stream(socket), arena.allocate(SlabRecord.TO_BORROWER, 8));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            SealRefusedException refused =
                    assertThrows(SealRefusedException.class, () -> SlabBorrower.connect(path, 0, copies, LIMIT));
            assertEquals("not a lender of slabs: magic=0x0 version=0", refused.getMessage());
            answered.get(60, TimeUnit.SECONDS);
        } finally {
            Files.delete(path);
        }
    }

    /// More than the sockets take.
    private CompletableFuture<Throwable> sendsToOneThatDoesNotRead(SlabPeer peer, Duration patience, Thread[] sender) {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        sender[0] = Thread.ofPlatform().daemon().start(() -> {
            try (SealedBuffer message = sealed(copies, 8 << 20)) {
                peer.send(message, patience);
                ended.complete(null);
            } catch (Throwable failure) {
                ended.complete(failure);
            }
        });
        return ended;
    }

    @Test
    void sendToABorrowerThatDoesNotReadEndsWithItsPatience() throws Exception {
        try (Liar _ = Liar.greeted(lender.path())) {
            SlabPeer peer = accepted();
            Throwable failure = sendsToOneThatDoesNotRead(peer, Duration.ofMillis(100), new Thread[1])
                    .get(60, TimeUnit.SECONDS);
            assertEquals(
                    Errno.ETIMEDOUT,
                    assertInstanceOf(PosixException.class, failure).errno());
            assertEquals("a message went out in part", peer.gone());
        }
    }

    @Test
    void sendToABorrowerThatDoesNotReadCanBeInterrupted() throws Exception {
        try (Liar _ = Liar.greeted(lender.path())) {
            SlabPeer peer = accepted();
            Thread[] sender = new Thread[1];
            CompletableFuture<Throwable> ended = sendsToOneThatDoesNotRead(peer, LONG, sender);
            sender[0].interrupt();
            Throwable failure = ended.get(60, TimeUnit.SECONDS);
            assertEquals(
                    Errno.EINTR, assertInstanceOf(PosixException.class, failure).errno());
        }
    }

    @Test
    void closeOfThePeerEndsASendThatWaits() throws Exception {
        try (Liar deaf = Liar.greeted(lender.path())) {
            SlabPeer peer = accepted();
            CompletableFuture<Throwable> ended = sendsToOneThatDoesNotRead(peer, LONG, new Thread[1]);
            peer.close();
            assertInstanceOf(PosixException.class, ended.get(60, TimeUnit.SECONDS));
            assertNotNull(peer.gone());
            peer.close();
            deaf.dropString();
            await(() -> lender.figures().peers() == 0);
            assertEquals(0, lender.figures().failures());
        }
    }

    /// It waits for another thread's send, and takes nothing with it.
    @Test
    void sendThatWaitsForAnotherSendEndsWithItsPatience() throws Exception {
        try (Liar _ = Liar.greeted(lender.path())) {
            SlabPeer peer = accepted();
            CompletableFuture<Throwable> first = sendsToOneThatDoesNotRead(peer, LONG, new Thread[1]);
            await(() -> peer.isSending());
            CompletableFuture<Throwable> second = sendsToOneThatDoesNotRead(peer, Duration.ofMillis(50), new Thread[1]);
            assertEquals(
                    Errno.ETIMEDOUT,
                    assertInstanceOf(PosixException.class, second.get(60, TimeUnit.SECONDS))
                            .errno());
            assertNull(peer.gone());
            assertFalse(first.isDone());
            peer.close();
            assertInstanceOf(PosixException.class, first.get(60, TimeUnit.SECONDS));
        }
    }
}
