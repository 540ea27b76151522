// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import static io.bulla.posix.fixtures.SendFixture.tcpPair;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.fixtures.Attack;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A peer that hands over what costs the receiver more than it should: descriptors, time, memory.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class HostileSenderTest {

    private static final int MAGIC = 0x42534541;
    private static final int MIB = 1 << 20;
    private static final long SPARSE = 512L * MIB;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final MemfdSource source = MemfdSource.create(budget, handles);
    private PosixSocket[] pair;
    private long files;

    @BeforeEach
    void openPair() throws IOException {
        MappingProtection.ofKernel();
        pair = PosixSocket.unixPair();
        files = Descriptors.open();
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        Descriptors.assertNoMemoryFile();
        Descriptors.assertOpen(files);
        pair[0].close();
        pair[1].close();
        assertEquals(0, handles.open());
        Descriptors.assertBookedOff(budget);
    }

    private void send(long length, int size, int... descriptors) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(64, 8);
            header.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 0, MAGIC);
            header.set(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), 24, length);
            Rights.send(SocketDoor.stream(pair[0]), header.asSlice(0, size), descriptors);
        }
    }

    private static void await(Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() - end < 0, "not within 30 s");
            Thread.sleep(2);
        }
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    /// 60 on each of 63 bytes, and the last byte never comes.
    @Test
    void messageThatIsNotWholeHoldsOneDescriptor() throws Exception {
        int[] pipe = Attack.pipe();
        int[] sixty = new int[60];
        Arrays.fill(sixty, pipe[0]);
        CompletableFuture<Throwable> received = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                SealedFileHandoff.receiveFrom(pair[1], MIB).close();
                received.complete(new AssertionError("received"));
            } catch (Throwable failure) {
                received.complete(failure);
            }
        });
        for (int i = 0; i < 63; i++) {
            send(0, 1, sixty);
        }
        // read by now, but for those on their way to be closed
        await(() -> !pair[1].awaitReadable(0) && Descriptors.open() <= files + 2 + 1);
        pair[0].close();
        Throwable failure = received.get(30, TimeUnit.SECONDS);
        assertTrue(failure instanceof EOFException, failure::toString);
        Call.current().close(pipe[0]);
        Call.current().close(pipe[1]);
        files--;
    }

    /// With bytes that its peer does not read it would wait in `close`, for as long as the sender has chosen.
    @Test
    void socketThatLingersDoesNotMakeTheReceiverWait() throws Exception {
        PosixSocket[] tcp = tcpPair();
        tcp[0].setBlocking(false);
        try (Arena arena = Arena.ofConfined()) {
            Call call = Call.current();
            int fd = Attack.fd(tcp[0]);
            call.setsockopt(fd, Libc.SOL_SOCKET, Libc.SO_LINGER, 1, 600);
            MemorySegment much = arena.allocate(16 * MIB);
            call.entry(0, much.address(), much.byteSize());
            while (call.sendmsg(fd, call.entries, 1, Libc.MSG_DONTWAIT) > 0) {}
            send(1, 64, fd);
            // the receiver's is the last one; no shutdown, which a plain close would make
            assertEquals(0, call.close(fd));
        }
        CompletableFuture<Throwable> received = new CompletableFuture<>();
        Thread receiver = Thread.ofPlatform().start(() -> {
            try {
                SealedFileHandoff.receiveFrom(pair[1], MIB).close();
                received.complete(new AssertionError("received"));
            } catch (Throwable failure) {
                received.complete(failure);
            }
        });
        try {
            Throwable refused = received.get(60, TimeUnit.SECONDS);
            assertEquals("not a memory file: errno=22", refused.getMessage());
        } finally {
            tcp[1].abort();
            receiver.join();
        }
    }

    private static int sparse(long bytes) {
        int fd = Memfd.create();
        assertEquals(0, Memfd.truncate(fd, bytes));
        assertEquals(0, Memfd.addSeals(fd, Memfd.IMMUTABLE));
        return fd;
    }

    private static byte read(SealedFileHandoff seal, long at) {
        try (SealedBuffer buffer = seal.share()) {
            return buffer.iovec().region(0).get(JAVA_BYTE, at);
        }
    }

    @Test
    void holesAreBookedBeforeTheyAreMapped() throws IOException {
        MemoryBudget holes = new MemoryBudget(SPARSE);
        int fd = sparse(SPARSE);
        send(SPARSE, 64, fd);
        send(SPARSE, 64, fd);
        Call.current().close(fd);
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], SPARSE, holes)) {
            assertEquals(SPARSE, holes.used());
            assertEquals(0, read(received, SPARSE - 1));
            assertEquals(
                    "memory file with holes over the budget: holes=" + (SPARSE - Memfd.PAGE) + " used=" + SPARSE
                            + " limit=" + SPARSE,
                    assertThrows(
                                    SealRefusedException.class,
                                    () -> SealedFileHandoff.receiveFrom(pair[1], SPARSE, holes))
                            .getMessage());
        }
        Descriptors.assertBookedOff(holes);
    }

    @Test
    void fileWithoutHolesBooksNothing() throws IOException {
        MemoryBudget holes = new MemoryBudget(1);
        try (SealedFileHandoff full = SealedFileHandoff.move(
                BufferBuilder.create(source).put(new byte[3 * Memfd.PAGE + 1]).seal(), 0, source)) {
            full.sendTo(pair[0]);
        }
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], MIB, holes)) {
            assertEquals(0, holes.used());
            assertEquals(0, read(received, 3 * Memfd.PAGE));
        }
    }

    /// Only the part that is mapped can be read.
    @Test
    void holesOutsideTheMappedPartAreNotBooked() throws IOException {
        MemoryBudget holes = new MemoryBudget(Memfd.PAGE);
        int fd = sparse(SPARSE);
        send(100, 64, fd);
        Call.current().close(fd);
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], MIB, holes)) {
            assertEquals(Memfd.PAGE, holes.used());
            assertEquals(0, read(received, 99));
        }
        Descriptors.assertBookedOff(holes);
    }

    /// The thread that ends mappings is stuck, and the receiver takes many: it has few descriptors and mappings.
    @Test
    void receiverThatIsFasterThanTheUnmapperHoldsFewOfEach() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Unmapper.MAPPINGS.later(new Unmapper.Freeable() {
            @Override
            public void free() {
                begun.countDown();
                try {
                    stuck.await();
                } catch (InterruptedException _) {
                    // ends with the test
                }
            }
        });
        begun.await();
        long most = 0;
        long mostMapped = 0;
        try (SealedFileHandoff seal = SealedFileHandoff.move(
                BufferBuilder.create(source).put(new byte[5]).seal(), 0, source)) {
            for (int i = 0; i < 3 * Unmapper.MANY; i++) {
                seal.sendTo(pair[0]);
                SealedFileHandoff.receiveFrom(pair[1], MIB).close();
                if (i % 100 == 0) {
                    most = Math.max(most, Descriptors.open());
                    mostMapped = Math.max(mostMapped, Descriptors.mappings("/memfd:" + Memfd.NAME));
                }
            }
        } finally {
            stuck.countDown();
        }
        assertTrue(most <= files + 10, "descriptors=" + most + " before=" + files);
        assertTrue(mostMapped <= Unmapper.MANY + 10, "mappings=" + mostMapped);
    }
}
