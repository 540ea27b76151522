// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.CopyTally;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.fixtures.Attack;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Memfd;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class SealedFileHandoffTest {

    private static final int MAGIC = 0x42534541;
    private static final long LIMIT = 64 << 20;
    private static final int PAGE = Memfd.PAGE;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final MemfdSource guarded = MemfdSource.create(budget, handles);
    private final ArenaSource arenas =
            ArenaSource.builder().budget(budget).trace(handles).build();
    private PosixSocket[] pair;
    private long files;
    private long adopted;

    @TempDir
    private Path folder;

    @BeforeEach
    void openPair() throws IOException {
        MappingProtection.ofKernel();
        pair = PosixSocket.unixPair();
        files = Descriptors.open();
        adopted = MemoryBudget.adopted();
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        Descriptors.assertNoMemoryFile();
        Descriptors.assertOpen(files);
        pair[0].close();
        pair[1].close();
        assertEquals(0, handles.open());
        assertEquals(adopted, MemoryBudget.adopted());
        arenas.close(Duration.ofSeconds(60));
        Descriptors.assertBookedOff(budget);
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private static SealedBuffer sealed(MemorySource source, byte... bytes) {
        return BufferBuilder.create(source).put(bytes).seal();
    }

    private static byte[] bytesOf(SealedBuffer buffer) {
        try (buffer;
                Arena arena = Arena.ofConfined()) {
            return buffer.iovec().toSegment(arena).toArray(JAVA_BYTE);
        }
    }

    /// Any message, with any descriptors.
    private void sendRaw(int magic, int digest, long offset, long length, int... descriptors) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(64, 8);
            header.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 0, magic);
            header.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 4, digest);
            header.set(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), 16, offset);
            header.set(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), 24, length);
            Rights.send(SocketDoor.stream(pair[0]), header, descriptors);
        }
    }

    /// What comes next is refused so, and the socket is good for another one after it.
    private void assertRefused(String message) throws IOException {
        SealRefusedException refused =
                assertThrows(SealRefusedException.class, () -> SealedFileHandoff.receiveFrom(pair[1], LIMIT));
        assertEquals(message, refused.getMessage());
        try (SealedFileHandoff good = SealedFileHandoff.move(sealed(guarded, (byte) 7), 3, guarded)) {
            good.sendTo(pair[0]);
        }
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
            assertArrayEquals(new byte[] {7}, bytesOf(received.share()));
        }
    }

    @Test
    void receiverHasTheBytesWithoutACopy() throws IOException, InterruptedException {
        byte[] bytes = random(3 << 20);
        SealedBuffer buffer = sealed(guarded, bytes);
        CopyTally before = CopyTally.snapshot();
        try (SealedFileHandoff seal = SealedFileHandoff.move(buffer, -5, guarded)) {
            assertFalse(buffer.isOpen());
            seal.sendTo(pair[0]);
        }
        assertEquals(0, handles.open());
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
            assertEquals(0, CopyTally.snapshot().since(before).copies());
            assertEquals(-5, received.format());
            assertEquals(Optional.empty(), received.digest());
            assertEquals(adopted + bytes.length, MemoryBudget.adopted());
            assertArrayEquals(bytes, bytesOf(received.share()));
            Descriptors.assertMapped(1, "/memfd:" + Memfd.NAME);
        }
    }

    @Test
    void handleOutlivesTheHandOverThatItCameWith() throws IOException {
        byte[] bytes = random(100);
        SealedBuffer kept;
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, bytes), 0, guarded)) {
            seal.sendTo(pair[0]);
            try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
                kept = received.share();
            }
        }
        assertArrayEquals(bytes, bytesOf(kept));
    }

    @Test
    void receivedBytesCannotBeWrittenByAnybody() throws IOException {
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, random(PAGE)), 0, guarded)) {
            seal.sendTo(pair[0]);
            try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT);
                    SealedBuffer buffer = received.share()) {
                assertEquals(-14, Attack.readInto(buffer.iovec().region(0)));
                assertEquals(-13, Attack.makeWritable(buffer.iovec().region(0)));
                assertEquals(-1, Attack.pwrite(Attack.fd(buffer)));
            }
        }
    }

    @Test
    void whatWasReceivedIsHandedOnWithoutACopy() throws IOException {
        byte[] bytes = random(5000);
        CopyTally before = CopyTally.snapshot();
        try (SealedFileHandoff seal =
                SealedFileHandoff.move(sealed(guarded, bytes), 1, guarded).moveWithDigest()) {
            seal.sendTo(pair[0]);
        }
        try (SealedFileHandoff first = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
            first.sendTo(pair[1]);
        }
        try (SealedFileHandoff second = SealedFileHandoff.receiveFrom(pair[0], LIMIT);
                SealedFileHandoff third = SealedFileHandoff.move(second.share(), 2, guarded)) {
            second.verify();
            third.sendTo(pair[0]);
        }
        try (SealedFileHandoff last = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
            assertEquals(0, CopyTally.snapshot().since(before).copies());
            assertArrayEquals(bytes, bytesOf(last.share()));
        }
    }

    @Test
    void sliceGoesAsOffsetAndLength() throws IOException {
        byte[] bytes = random(3 * PAGE);
        try (SealedBuffer whole = sealed(guarded, bytes)) {
            for (int[] range : new int[][] {{0, 1}, {1, 10}, {PAGE - 1, 2}, {PAGE, PAGE}, {3 * PAGE - 1, 1}}) {
                CopyTally before = CopyTally.snapshot();
                try (SealedFileHandoff seal = SealedFileHandoff.move(whole.slice(range[0], range[1]), 0, guarded)
                        .moveWithDigest()) {
                    assertEquals(0, CopyTally.snapshot().since(before).copies());
                    seal.sendTo(pair[0]);
                }
                try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
                    received.verify();
                    assertArrayEquals(
                            Arrays.copyOfRange(bytes, range[0], range[0] + range[1]), bytesOf(received.share()));
                }
            }
        }
    }

    /// What the documentation warns of.
    @Test
    void wholeFileIsVisibleThroughASlice() throws IOException {
        try (SealedBuffer whole = sealed(guarded, random(2 * PAGE));
                SealedFileHandoff seal = SealedFileHandoff.move(whole.slice(5, 6), 0, guarded)) {
            seal.sendTo(pair[0]);
            try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT);
                    SealedBuffer slice = received.share()) {
                assertEquals(6, slice.byteSize());
                assertEquals(2 * PAGE, Memfd.size(Attack.fd(slice)));
            }
        }
    }

    @Test
    void bufferThatIsNoMemoryFileIsCopiedOnce() throws IOException {
        byte[] bytes = random(10_000);
        try (SealedBuffer one = sealed(arenas, bytes);
                SealedBuffer file = sealed(guarded, bytes)) {
            byte[] twice = Arrays.copyOf(bytes, 2 * bytes.length);
            System.arraycopy(bytes, 0, twice, bytes.length, bytes.length);
            SealedBuffer heap = SealedBuffer.adopt(MemorySegment.ofArray(bytes), () -> {});
            assertCopiedOnce(bytes, one.share());
            assertCopiedOnce(bytes, heap);
            assertCopiedOnce(twice, SealedBuffer.concat(file, file));
            assertCopiedOnce(twice, SealedBuffer.concat(file, one));
        }
    }

    private void assertCopiedOnce(byte[] expected, SealedBuffer handle) throws IOException {
        CopyTally before = CopyTally.snapshot();
        try (SealedFileHandoff seal = SealedFileHandoff.move(handle, 0, guarded)) {
            CopyTally copied = CopyTally.snapshot().since(before);
            assertEquals(new CopyTally(1, expected.length), copied);
            for (int i = 0; i < 3; i++) {
                seal.sendTo(pair[0]);
            }
            assertEquals(copied, CopyTally.snapshot().since(before));
        }
        assertFalse(handle.isOpen());
        for (int i = 0; i < 3; i++) {
            try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
                assertArrayEquals(expected, bytesOf(received.share()));
            }
        }
    }

    @Test
    void bufferOfNothingIsHandedOver() throws IOException {
        for (MemorySource source : new MemorySource[] {guarded, arenas}) {
            try (SealedFileHandoff seal = SealedFileHandoff.move(
                            BufferBuilder.create(source).seal(), 9, guarded)
                    .moveWithDigest()) {
                seal.sendTo(pair[0]);
            }
            try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], 0)) {
                received.verify();
                assertEquals(0, bytesOf(received.share()).length);
            }
        }
        try (SealedBuffer whole = sealed(guarded, random(10));
                SealedFileHandoff seal = SealedFileHandoff.move(whole.slice(10, 0), 9, guarded)) {
            seal.sendTo(pair[0]);
            SealedFileHandoff.receiveFrom(pair[1], 0).close();
        }
    }

    @Test
    void digestTravelsAndIsVerified() throws Exception {
        byte[] bytes = random(100_000);
        try (SealedFileHandoff seal =
                SealedFileHandoff.move(sealed(guarded, bytes), 0, guarded).moveWithDigest()) {
            seal.sendTo(pair[0]);
        }
        String expected =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
            assertEquals(Optional.of(expected), received.digest());
            received.verify();
        }
        try (SealedBuffer other = sealed(guarded, new byte[5])) {
            sendRaw(MAGIC, 1, 0, 5, Attack.fd(other));
        }
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
            assertEquals(
                    "digest of other bytes: wanted=" + "0".repeat(64) + " computed="
                            + HexFormat.of()
                                    .formatHex(
                                            MessageDigest.getInstance("SHA-256").digest(new byte[5])),
                    assertThrows(SealRefusedException.class, received::verify).getMessage());
        }
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, new byte[5]), 0, guarded)) {
            assertEquals(
                    "no digest to verify: byteSize=5",
                    assertThrows(IllegalStateException.class, seal::verify).getMessage());
        }
    }

    @Test
    void fileWithoutTheSealsIsRefused() throws IOException {
        for (int seals : new int[] {0, Memfd.SEAL_WRITE, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW, 0x10 | 0x6}) {
            int fd = Memfd.create();
            try {
                Memfd.truncate(fd, 100);
                Memfd.addSeals(fd, seals);
                sendRaw(MAGIC, 0, 0, 100, fd);
                assertRefused("memory file without the seals: seals=0x" + Integer.toHexString(Memfd.seals(fd))
                        + " wanted=0xe");
            } finally {
                Call.current().close(fd);
            }
        }
    }

    @Test
    void fileThatIsTooShortIsRefused() throws IOException {
        try (SealedBuffer buffer = sealed(guarded, random(100))) {
            int fd = Attack.fd(buffer);
            long[][] ranges = {{0, 101}, {1, 100}, {101, 0}, {-1, 5}, {Long.MAX_VALUE, 5}, {Long.MIN_VALUE, 5}};
            for (long[] range : ranges) {
                sendRaw(MAGIC, 0, range[0], range[1], fd);
                assertRefused("memory file too short: offset=" + range[0] + " length=" + range[1] + " fileBytes=100");
            }
            sendRaw(MAGIC, 0, 0, LIMIT + 1, fd);
            assertRefused("buffer over the limit: length=67108865 limit=67108864");
            sendRaw(MAGIC, 0, 0, -1, fd);
            assertRefused("buffer over the limit: length=-1 limit=67108864");
        }
    }

    @Test
    void otherKindsOfDescriptorsAreRefused() throws IOException {
        int[] pipe = Attack.pipe();
        PosixSocket[] other = PosixSocket.unixPair();
        Path file = Files.write(folder.resolve("f"), new byte[100]);
        int regular = Attack.open(file);
        int directory = Attack.open(folder);
        int huge = Attack.hugePages();
        try {
            for (int fd : new int[] {pipe[0], pipe[1], directory, Attack.fd(other[0])}) {
                sendRaw(MAGIC, 0, 0, 1, fd);
                assertRefused("not a memory file: errno=22");
            }
            sendRaw(MAGIC, 0, 0, 1, regular);
            SealRefusedException refused =
                    assertThrows(SealRefusedException.class, () -> SealedFileHandoff.receiveFrom(pair[1], LIMIT));
            // on a tmpfs every file has seals: that there can be no more
            assertTrue(
                    refused.getMessage().equals("not a memory file: errno=22")
                            || refused.getMessage().equals("memory file without the seals: seals=0x1 wanted=0xe"),
                    refused.getMessage());
            if (huge >= 0) {
                Memfd.addSeals(huge, Memfd.IMMUTABLE);
                sendRaw(MAGIC, 0, 0, 0, huge);
                assertRefused("not a memory file of small pages: errno=22");
            }
        } finally {
            for (int fd : new int[] {pipe[0], pipe[1], regular, directory, huge}) {
                Call.current().close(fd);
            }
            other[0].close();
            other[1].close();
        }
    }

    @Test
    void anyOtherNumberOfDescriptorsIsRefused() throws IOException {
        try (SealedBuffer buffer = sealed(guarded, random(100))) {
            int fd = Attack.fd(buffer);
            sendRaw(MAGIC, 0, 0, 100);
            assertRefused("a seal comes with one descriptor: descriptors=0");
            sendRaw(MAGIC, 0, 0, 100, fd, fd);
            assertRefused("a seal comes with one descriptor: descriptors=2");
            int[] most = new int[60];
            Arrays.fill(most, fd);
            sendRaw(MAGIC, 0, 0, 100, most);
            assertRefused("a seal comes with one descriptor: descriptors=60");
        }
    }

    /// The kernel puts no more into one message.
    @Test
    void asManyDescriptorsAsCanBeAreRefused() throws IOException {
        try (SealedBuffer buffer = sealed(guarded, random(100))) {
            int[] many = new int[253];
            Arrays.fill(many, Attack.fd(buffer));
            Attack.sendMany(Attack.fd(pair[0]), MAGIC, many);
            assertRefused("a seal comes with one descriptor: descriptors=253");
        }
    }

    @Test
    void otherMessagesAreRefused() throws IOException {
        try (SealedBuffer buffer = sealed(guarded, random(100))) {
            sendRaw(0x12345678, 0, 0, 100, Attack.fd(buffer));
            assertRefused("not a hand-over of a seal: magic=0x12345678 digest=0");
            sendRaw(MAGIC, 2, 0, 100, Attack.fd(buffer));
            assertRefused("not a hand-over of a seal: magic=0x42534541 digest=2");
        }
    }

    @Test
    void endOfTheConnectionIsTold() throws IOException {
        pair[0].moveAndSend(sealed(guarded, new byte[12]));
        try (SealedBuffer buffer = sealed(guarded, random(100));
                Arena arena = Arena.ofConfined()) {
            Rights.send(SocketDoor.stream(pair[0]), arena.allocate(10), Attack.fd(buffer));
        }
        pair[0].close();
        files--;
        assertEquals(
                "connection ended: wanted=64 read=22",
                assertThrows(EOFException.class, () -> SealedFileHandoff.receiveFrom(pair[1], LIMIT))
                        .getMessage());
        assertEquals(
                "connection ended: wanted=64 read=0",
                assertThrows(EOFException.class, () -> SealedFileHandoff.receiveFrom(pair[1], LIMIT))
                        .getMessage());
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, (byte) 1), 0, guarded)) {
            assertThrows(PosixException.PeerClosed.class, () -> seal.sendTo(pair[1]));
        }
    }

    @Test
    void otherTrafficMaySurroundAHandOver() throws IOException {
        byte[] before = "before ".repeat(30).getBytes(StandardCharsets.UTF_8);
        byte[] after = "after".getBytes(StandardCharsets.UTF_8);
        pair[0].moveAndSend(sealed(guarded, before));
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, random(100)), 0, guarded)) {
            seal.sendTo(pair[0]);
            seal.sendTo(pair[0]);
        }
        pair[0].moveAndSend(sealed(guarded, after));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(before.length);
            assertEquals(before.length, pair[1].receive(target));
            for (int i = 0; i < 2; i++) {
                try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
                    assertArrayEquals(random(100), bytesOf(received.share()));
                }
            }
            assertEquals(after.length, pair[1].receive(target));
        }
    }

    @Test
    void socketsThatDoNotWaitAreWaitedFor() throws Exception {
        pair[0].setBlocking(false);
        pair[1].setBlocking(false);
        CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(() -> {
            try (SealedFileHandoff seal = SealedFileHandoff.receiveFrom(pair[1], LIMIT)) {
                return bytesOf(seal.share());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        Thread.sleep(30);
        assertFalse(received.isDone());
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, random(77)), 0, guarded)) {
            seal.sendTo(pair[0]);
        }
        assertArrayEquals(random(77), received.join());
    }

    @Test
    void refusesByName() throws IOException {
        SealedBuffer closed = sealed(guarded, (byte) 1);
        closed.close();
        assertThrows(ReleasedBufferException.class, () -> SealedFileHandoff.move(closed, 0, guarded));
        try (PosixSocket server = PosixSocket.listen(0);
                PosixSocket client = PosixSocket.connect(server.port());
                SealedFileHandoff seal = SealedFileHandoff.move(sealed(guarded, (byte) 1), 0, guarded)) {
            assertEquals(
                    "descriptors travel over unix sockets only: " + client,
                    assertThrows(IllegalArgumentException.class, () -> seal.sendTo(client))
                            .getMessage());
        }
        SealedFileHandoff done = SealedFileHandoff.move(sealed(guarded, (byte) 1), 4, guarded);
        assertEquals("SealedFileHandoff[SealedBuffer[byteSize=1 open] format=4 offset=0]", done.toString());
        done.close();
        done.close();
        assertThrows(ReleasedBufferException.class, () -> done.sendTo(pair[0]));
        assertThrows(ReleasedBufferException.class, done::share);
    }
}
