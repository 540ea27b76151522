// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Attack;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.memory.SealedFile;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.bulla.refcount.held.Held;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class MemfdSourceTest {

    private static final int PAGE = Memfd.PAGE;
    private static final int EPERM = -1;
    private static final int EACCES = -13;
    private static final int EFAULT = -14;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final MemfdSource source = MemfdSource.create(budget, handles);

    @AfterEach
    void nothingStays() throws IOException {
        assertEquals(0, handles.open());
        Descriptors.assertNoMemoryFile();
        Descriptors.assertBookedOff(budget);
    }

    @Test
    void sourceIsListedFromOutsideWhileItHasFiles() throws IOException {
        MemoryBudget own = new MemoryBudget(4711L * PAGE);
        LeaseLedger ledger = LeaseLedger.full();
        SealedBuffer held = forgotten(own, ledger);
        System.gc();
        String line = listed(own);
        String expected =
                "guard=" + source.guard() + " files=1 booked=" + PAGE + " used=" + PAGE + " limit=" + own.limit();
        assertTrue(line.startsWith(expected + " held by [request 4711: handles=1 size=" + PAGE + " oldest="), line);
        held.close();
        Descriptors.assertBookedOff(own);
    }

    @Test
    void filesThatAreFreedAreNotListed() throws IOException {
        MemoryBudget own = new MemoryBudget(4712L * PAGE);
        MemfdSource untraced = MemfdSource.create(own, null);
        Region never = untraced.allocate(1);
        try (BufferBuilder builder = BufferBuilder.create(untraced)) {
            builder.put(random(3 * PAGE)).put(random(3 * PAGE)).seal().close();
        }
        never.release();
        Descriptors.assertBookedOff(own);
        assertEquals(
                "guard=" + untraced.guard() + " files=0 booked=0 used=0 limit=" + own.limit() + " held by [not traced]",
                listed(own));
        Reference.reachabilityFence(untraced);
    }

    /// Of a source that the program keeps no longer.
    private static SealedBuffer forgotten(MemoryBudget budget, LeaseLedger ledger) {
        try (BufferBuilder builder = BufferBuilder.create(MemfdSource.create(budget, ledger))) {
            return builder.put(new byte[5]).seal("request 4711");
        }
    }

    private static String listed(MemoryBudget budget) {
        List<String> lines = new Held()
                .getSources().stream()
                        .filter(line -> line.contains(" limit=" + budget.limit() + " "))
                        .toList();
        assertEquals(1, lines.size(), lines::toString);
        return lines.getFirst();
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private SealedBuffer sealed(byte... bytes) {
        return BufferBuilder.create(source).put(bytes).seal();
    }

    private static byte[] bytesOf(SealedBuffer buffer) {
        byte[] bytes = new byte[(int) buffer.byteSize()];
        long at = 0;
        for (ByteBuffer view : buffer.iovec().asByteBuffers()) {
            int length = view.remaining();
            view.get(bytes, (int) at, length);
            at += length;
        }
        return bytes;
    }

    @Test
    void sealedBytesAreThoseWritten() {
        for (int size : new int[] {1, 255, 256, PAGE - 1, PAGE, PAGE + 1, 300_000, 5 << 20}) {
            byte[] bytes = random(size);
            try (SealedBuffer buffer = sealed(bytes)) {
                assertArrayEquals(bytes, bytesOf(buffer));
                assertEquals(Memfd.inPages(size), buffer.pinnedBytes());
                assertEquals(Memfd.inPages(size), budget.used());
            }
            Descriptors.assertBookedOff(budget);
        }
    }

    @Test
    void bufferOfNothingTakesNothing() {
        try (SealedBuffer empty = BufferBuilder.create(source).seal()) {
            assertEquals(0, empty.byteSize());
            assertEquals(0, budget.used());
        }
    }

    @Test
    void growsAsOneFile() {
        Random random = new Random(7);
        byte[] bytes = random(9 << 20);
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            // other mappings get in the way of growing in place
            List<SealedBuffer> inTheWay = new ArrayList<>();
            for (int at = 0; at < bytes.length; ) {
                int step = Math.min(bytes.length - at, 1 + random.nextInt(200_000));
                builder.put(MemorySegment.ofArray(bytes).asSlice(at, step));
                at += step;
                inTheWay.add(sealed((byte) at));
            }
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals(1, buffer.iovec().regionCount());
                assertArrayEquals(bytes, bytesOf(buffer));
            }
            inTheWay.forEach(SealedBuffer::close);
        }
    }

    @Test
    void growsToTheBudgetAndNoFurther() {
        MemoryBudget small = new MemoryBudget(300L * PAGE);
        MemfdSource limited = MemfdSource.create(small, null);
        try (BufferBuilder builder = BufferBuilder.create(limited)) {
            for (int i = 0; i < 300 * PAGE; i++) {
                builder.putByte((byte) i);
            }
            assertEquals(
                    "memory budget exceeded: requested=1048576 used=" + 300 * PAGE + " limit=" + 300 * PAGE,
                    assertThrows(MemoryLimitException.class, () -> builder.putByte((byte) 0))
                            .getMessage());
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals(1, buffer.iovec().regionCount());
                assertEquals(300 * PAGE, buffer.byteSize());
            }
        }
    }

    @Test
    void memoryThatWaitsToBeUnmappedIsNoReasonForARefusal() {
        MemfdSource limited = MemfdSource.create(new MemoryBudget(2 * PAGE), null);
        for (int i = 0; i < 200; i++) {
            BufferBuilder.ofCapacity(limited, 2L * PAGE)
                    .put(new byte[PAGE + 1])
                    .seal()
                    .close();
        }
    }

    @Test
    void abandonedBuilderGivesAllBack() {
        BufferBuilder builder = BufferBuilder.create(source).put(random(100_000));
        assertTrue(budget.used() >= 100_000);
        builder.close();
    }

    @Test
    void channelIsReadStraightIntoTheFile(@TempDir Path folder) throws IOException {
        byte[] bytes = random(3 << 20);
        Path file = Files.write(folder.resolve("f"), bytes);
        try (FileChannel channel = FileChannel.open(file);
                BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes.length)) {
            builder.readFully(channel, bytes.length);
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals(1, buffer.iovec().regionCount());
                assertArrayEquals(bytes, bytesOf(buffer));
            }
        }
    }

    @Test
    void javaViewCannotWrite() {
        try (SealedBuffer buffer = sealed(new byte[10])) {
            assertEquals(
                    "Attempt to write a read-only segment",
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> buffer.iovec().region(0).set(JAVA_BYTE, 0, (byte) 1))
                            .getMessage());
        }
    }

    @Test
    void unsafeOrAMadeUpSegmentFaults(@TempDir Path folder) throws Exception {
        Process java = new ProcessBuilder(Attack.command(Attack.ThroughAnAddress.class))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(java.getInputStream().readAllBytes());
        assertTrue(java.waitFor(30, TimeUnit.SECONDS));
        assertTrue(said.startsWith("read 0\n"), said);
        assertTrue(said.contains("SIGSEGV"), said);
        assertFalse(said.contains("wrote"), said);
        assertNotEquals(0, java.exitValue());
    }

    @Test
    void nativeCodeCannotWrite() throws PosixException {
        byte[] bytes = random(2 * PAGE);
        PosixSocket[] pair = PosixSocket.unixPair();
        try (SealedBuffer buffer = sealed(bytes)) {
            MemorySegment memory = buffer.iovec().region(0);
            int fd = Attack.fd(buffer);
            assertEquals(EFAULT, Attack.readInto(memory));
            pair[0].moveAndSend(sealed((byte) 1));
            assertEquals(
                    Errno.EFAULT,
                    assertThrows(
                                    PosixException.class,
                                    () -> SocketDoor.stream(pair[1])
                                            .wait(
                                                    "recv",
                                                    Libc.POLLIN,
                                                    socket -> Call.current().recv(socket, memory, 1, 0)))
                            .errno());
            assertEquals(EACCES, Attack.makeWritable(memory));
            assertEquals(EPERM, Memfd.map(fd, 0, PAGE, true, true));
            assertEquals(EPERM, Attack.pwrite(fd));
            assertEquals(EPERM, Memfd.truncate(fd, PAGE));
            assertEquals(EPERM, Memfd.truncate(fd, 3L * PAGE));
            assertEquals(EPERM, Attack.punch(fd));
            assertEquals(EPERM, Memfd.addSeals(fd, 0x10));
            assertArrayEquals(bytes, bytesOf(buffer));
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }

    /// The weaker promise: the file is as safe, the view of this process is not.
    @Test
    void privateGuardLetsNativeCodeChangeItsOwnViewOnly() throws PosixException {
        assertEquals(MappingProtection.SHARED, source.guard());
        MemfdSource weaker = MemfdSource.guardedBy(MappingProtection.PRIVATE, budget, handles);
        assertEquals(MappingProtection.PRIVATE, weaker.guard());
        try (SealedBuffer buffer =
                BufferBuilder.create(weaker).put(new byte[PAGE]).seal()) {
            MemorySegment memory = buffer.iovec().region(0);
            int fd = Attack.fd(buffer);
            assertEquals(EFAULT, Attack.readInto(memory));
            assertEquals(EPERM, Attack.pwrite(fd));
            assertEquals(EPERM, Memfd.map(fd, 0, PAGE, true, true));
            assertEquals(0, Attack.makeWritable(memory));
        }
    }

    @Test
    void aliasThatIsStillMappedRefusesTheSeal() throws PosixException {
        for (boolean writable : new boolean[] {true, false}) {
            Region region = source.allocate(100);
            int fd = ((MemfdRegion) region).fd();
            long alias = Memfd.map(fd, 0, PAGE, writable, true);
            IllegalStateException busy = assertThrows(IllegalStateException.class, () -> source.seal(region, 100));
            assertEquals(
                    "cannot seal a memory file: fcntl: Device or resource busy: errno=16 memfd=" + fd,
                    busy.getMessage());
            assertEquals(Errno.EBUSY, ((PosixException) busy.getCause()).errno());
            Memfd.unmap(alias, PAGE);
            region.release();
        }
    }

    @Test
    void failedSealLeavesABuilderThatCanOnlyBeClosed() throws PosixException {
        Region[] taken = new Region[1];
        BufferBuilder builder = BufferBuilder.create(new MemorySource() {
            @Override
            public Region allocate(long byteSize) {
                return taken[0] = source.allocate(byteSize);
            }

            @Override
            public MemorySegment seal(Region region, long used) {
                return source.seal(region, used);
            }
        });
        builder.put(random(100));
        int fd = ((MemfdRegion) taken[0]).fd();
        long alias = Memfd.map(fd, 0, PAGE, true, true);
        assertThrows(IllegalStateException.class, builder::seal);
        Memfd.unmap(alias, PAGE);
        assertEquals(
                "builder already given back by a seal that failed: byteSize=100",
                assertThrows(IllegalStateException.class, () -> builder.putByte((byte) 1))
                        .getMessage());
        builder.close();
    }

    @Test
    void viewOfTheWriterEndsWithTheSeal() {
        Region region = source.allocate(100);
        MemorySegment writing = region.segment();
        MemorySegment sealed = source.seal(region, 50);
        assertEquals(50, sealed.byteSize());
        assertEquals(
                "Already closed",
                assertThrows(IllegalStateException.class, () -> writing.set(JAVA_BYTE, 0, (byte) 1))
                        .getMessage());
        region.release();
    }

    @Test
    void viewOfTheWriterSurvivesGrowthOrEnds() {
        Region region = source.allocate(PAGE);
        MemorySegment before = region.segment();
        before.set(JAVA_BYTE, 5, (byte) 77);
        long inTheWay = Memfd.map(((MemfdRegion) region).fd(), 0, PAGE, true, true);
        assertEquals(region, source.grow(region, 20L * PAGE));
        assertEquals(20L * PAGE, region.segment().byteSize());
        assertEquals(77, region.segment().get(JAVA_BYTE, 5));
        region.segment().set(JAVA_BYTE, 20L * PAGE - 1, (byte) 1);
        if (region.segment().address() == before.address()) {
            assertEquals(77, before.get(JAVA_BYTE, 5));
        } else {
            assertThrows(IllegalStateException.class, () -> before.get(JAVA_BYTE, 5));
        }
        Memfd.unmap(inTheWay, PAGE);
        region.release();
    }

    @Test
    void staleViewIsAnException() throws IOException {
        SealedBuffer buffer = sealed(random(100));
        MemorySegment stale = buffer.iovec().region(0);
        buffer.close();
        Descriptors.assertNoMemoryFile();
        assertEquals(
                "Already closed",
                assertThrows(IllegalStateException.class, () -> stale.get(JAVA_BYTE, 0))
                        .getMessage());
        assertNull(SealedFile.of(stale));
    }

    /// The last handle goes while a system call of the JDK is in the memory: it is unmapped after it.
    @Test
    void unmapsAfterACallThatHoldsTheMemory() throws Exception {
        Pipe pipe = Pipe.open();
        SealedBuffer buffer = sealed(random(1 << 20));
        MemorySegment memory = buffer.iovec().region(0);
        Thread writer = Thread.ofPlatform().start(() -> {
            try {
                ByteBuffer all = memory.asByteBuffer();
                while (all.hasRemaining()) {
                    pipe.sink().write(all);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        // a byte is there, and a pipe has not room for all: the writer is in its call
        assertEquals(1, pipe.source().read(ByteBuffer.allocate(1)));
        buffer.close();
        Thread.sleep(50);
        assertEquals(1, Descriptors.mappings("memfd:" + Memfd.NAME));
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer target = arena.allocate((1 << 20) - 1).asByteBuffer();
            while (target.hasRemaining()) {
                pipe.source().read(target);
            }
        }
        writer.join();
        pipe.sink().close();
        pipe.source().close();
    }

    @Test
    void refusesByName() {
        assertEquals(
                "a region is at least one byte: byteSize=0",
                assertThrows(IllegalArgumentException.class, () -> source.allocate(0))
                        .getMessage());
        MemfdSource boundless = MemfdSource.create(MemoryBudget.unlimited(), null);
        MemoryLimitException tooLarge =
                assertThrows(MemoryLimitException.class, () -> boundless.allocate(Long.MAX_VALUE));
        assertTrue(tooLarge.getMessage().startsWith("the system refuses a memory file: "), tooLarge.getMessage());
        try (ArenaSource other = ArenaSource.create()) {
            Region foreign = other.allocate(1);
            assertNull(source.grow(foreign, 2));
            foreign.release();
        }
    }
}
