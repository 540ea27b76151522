// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.FixedBufferTables;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.memfd.HugePages;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Needs(value = Piece.IO_URING, by = FixedBufferTables.class)
class SealedFileWriterTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final int MIB = 1 << 20;
    private static final int RLIMIT_FSIZE = 1;

    @TempDir
    private Path directory;

    private final SlabSource memory =
            SlabSource.builder().supplier(new HugePages()).build();
    private final ArenaSource arenas = ArenaSource.create();
    private final Random random = new Random(22);
    private long files;
    private FixedBufferTable table;
    private Registrations registrations;

    @BeforeEach
    void open() throws Exception {
        table = FixedBufferTable.open(16);
        registrations = Registrations.of(table, new PinBudget(1L << 30));
        // what the first file opens for good
        writer("warm-up").close();
        files = Descriptors.open();
    }

    @AfterEach
    void allIsGivenBack() throws Exception {
        if (registrations != null) {
            Descriptors.assertOpen(files);
            registrations.close();
        }
        memory.close(PATIENCE);
    }

    @Test
    void withoutMemoryForTheWriterThereIsNoFile() {
        Path path = directory.resolve("none");
        assertThrows(
                OutOfMemoryError.class,
                () -> SealedFileWriter.create(path, file -> {
                    assertTrue(Files.exists(path));
                    throw new OutOfMemoryError("staging");
                }));
        assertFalse(Files.exists(path));
    }

    @Test
    void alignedBuffersGoFromRegisteredMemory() throws Exception {
        Path path = directory.resolve("aligned");
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        try (SealedFileWriter file = writer(path)) {
            for (int i = 0; i < 3; i++) {
                try (SealedBuffer buffer = buffer(memory, MIB, expected)) {
                    assertEquals((long) i * MIB, file.append(buffer));
                }
            }
            file.flush();
            assertEquals(new FileFigures(3 * MIB, 0, 0, 0), file.figures());
            assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path));
        }
        assertEquals(1, registrations.figures().registered());
        assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path));
    }

    @Test
    void anyBytesInAnyPiecesAreTheFilesBytes() throws Exception {
        int[] sizes = {1, 7, 511, 512, 4095, 4096, 4097, 70_000, 300_000, MIB + 3};
        for (int run = 0; run < 30; run++) {
            Path path = directory.resolve("run-" + run);
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            try (SealedFileWriter file = writer(path)) {
                for (int i = random.nextInt(8); i >= 0; i--) {
                    MemorySource from = random.nextInt(4) == 0 ? arenas : memory;
                    try (SealedBuffer one = buffer(from, sizes[random.nextInt(sizes.length)], expected);
                            SealedBuffer two = buffer(memory, sizes[random.nextInt(sizes.length)], expected);
                            SealedBuffer both = SealedBuffer.concat(one, two)) {
                        file.append(both);
                    }
                    if (random.nextInt(3) == 0) {
                        file.flush();
                        assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path), path::toString);
                    }
                    if (random.nextInt(3) == 0) {
                        long size = file.align();
                        expected.write(new byte[(int) size - expected.size()]);
                        assertEquals(0, size % file.blockBytes());
                    }
                }
                assertEquals(expected.size(), file.size());
            }
            assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path), path::toString);
        }
    }

    @Test
    void nextBufferBeginsAtABlock() throws Exception {
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        Path path = directory.resolve("blocks");
        try (SealedFileWriter file = writer(path);
                SealedBuffer odd = buffer(memory, 100, expected);
                SealedBuffer even = buffer(memory, MIB, new ByteArrayOutputStream())) {
            file.append(odd);
            expected.write(new byte[(int) file.align() - 100]);
            assertEquals(file.blockBytes(), file.append(even));
            expected.write(even.toByteArray());
            assertEquals(new FileFigures(MIB, 0, 100, 0), file.figures());
        }
        assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path));
    }

    @Test
    void memoryThatTheTableDoesNotKnowIsWrittenAllTheSame() throws Exception {
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        Path path = directory.resolve("plain");
        try (Registrations none = Registrations.of(FixedBufferTable.open(1), new PinBudget(0));
                SealedFileWriter file = SealedFileWriter.create(path, table, none::use, PATIENCE);
                SealedBuffer buffer = buffer(memory, MIB, expected)) {
            file.append(buffer);
            assertEquals(new FileFigures(0, MIB, 0, 0), file.figures());
            assertTrue(none.lastRefusal().contains("limit=0"), none::lastRefusal);
        }
        assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path));
    }

    /// The file may be no larger than a part of the buffer, until that part is written.
    @Test
    void shortWriteGoesOn() throws Exception {
        Path path = directory.resolve("short");
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        long limit = 2 * MIB + 512;
        long before = fileSizeLimit(limit);
        try (SealedFileWriter file = writer(path);
                SealedBuffer buffer = buffer(memory, 4 * MIB, expected)) {
            SyscallInterceptor.watch((call, arguments) -> {
                if (call.equals("io_uring_enter") && path.toFile().length() >= 2 * MIB) {
                    fileSizeLimit(before);
                }
                return 0;
            });
            file.append(buffer);
            assertTrue(file.figures().shortWrites() > 0, file::toString);
            assertEquals(4 * MIB, file.figures().registered());
        } finally {
            SyscallInterceptor.watch(null);
            fileSizeLimit(before);
        }
        assertArrayEquals(expected.toByteArray(), Files.readAllBytes(path));
    }

    @Test
    void fileTooLargeIsAnErrorByNameAndTheFileIsBroken() throws Exception {
        Path path = directory.resolve("large");
        long before = fileSizeLimit(2 * MIB);
        try (SealedFileWriter file = writer(path);
                SealedBuffer buffer = buffer(memory, 4 * MIB, new ByteArrayOutputStream())) {
            PosixException refused = assertThrows(PosixException.class, () -> file.append(buffer));
            assertEquals(Errno.EFBIG, refused.errno(), refused::toString);
            String later =
                    assertThrows(IOException.class, () -> file.append(buffer)).getMessage();
            assertTrue(later.contains("file is broken: call=append") && later.contains("File too large"), later);
            assertThrows(IOException.class, file::flush);
            assertThrows(IOException.class, file::align);
        } finally {
            fileSizeLimit(before);
        }
    }

    @Test
    void deadlineEndsAWriteThatWaitsAndTheBufferIsHeldUntilTheKernelLetsGo() throws Exception {
        Pipe pipe = new Pipe();
        try (SealedFileWriter file = pipe.writer(SHORT)) {
            SealedBuffer buffer = buffer(memory, MIB, new ByteArrayOutputStream());
            PosixException late = assertThrows(PosixException.class, () -> file.append(buffer));
            assertEquals(Errno.ETIMEDOUT, late.errno(), late::toString);
            assertTrue(late.getMessage().contains("waitedMs=200"), late::getMessage);
            buffer.close();
        }
        assertNothingInUse();
        pipe.close();
    }

    @Test
    void interruptEndsAWriteThatWaits() throws Exception {
        Pipe pipe = new Pipe();
        try (SealedFileWriter file = pipe.writer(PATIENCE);
                SealedBuffer buffer = buffer(memory, MIB, new ByteArrayOutputStream())) {
            Thread.currentThread().interrupt();
            try {
                assertThrows(InterruptedIOException.class, () -> file.append(buffer));
            } finally {
                assertTrue(Thread.interrupted());
            }
        }
        assertNothingInUse();
        pipe.close();
    }

    /// The release runs when the kernel answers, and that is inside the call that closes the broken file.
    @Test
    void releaseThatClosesTheFileWhileItIsClosedIsRefused() throws Exception {
        Pipe pipe = new Pipe();
        SealedFileWriter file = pipe.writer(PATIENCE);
        List<String> inner = new ArrayList<>();
        SealedBuffer buffer = SealedBuffer.adopt(Arena.ofAuto().allocate(MIB), () -> {
            try {
                file.close();
                inner.add("let in");
            } catch (IllegalStateException | IOException refused) {
                inner.add(refused.getMessage());
            }
        });
        Thread.currentThread().interrupt();
        try {
            assertThrows(InterruptedIOException.class, () -> file.append(buffer));
        } finally {
            assertTrue(Thread.interrupted());
        }
        buffer.close();
        file.close();
        assertEquals(List.of("file is in a call already: call=close path=pipe"), inner);
        pipe.close();
    }

    /// The thread is interrupted once it waits: a time that overflows ends before. Only a fast call overflows it,
    /// so there are many.
    @Test
    void patienceWithoutEndWaits() throws Exception {
        List<Duration> endless = List.of(Duration.ofNanos(Long.MAX_VALUE), ChronoUnit.FOREVER.getDuration());
        for (int i = 0; i < 20; i++) {
            Pipe pipe = new Pipe();
            Thread caller = Thread.currentThread();
            try (SealedFileWriter file = pipe.writer(endless.get(i % 2));
                    SealedBuffer buffer = buffer(memory, MIB, new ByteArrayOutputStream())) {
                SyscallInterceptor.watch((call, _) -> {
                    if (call.equals("poll")) {
                        caller.interrupt();
                    }
                    return 0;
                });
                try {
                    assertThrows(InterruptedIOException.class, () -> file.append(buffer));
                } finally {
                    SyscallInterceptor.watch(null);
                    Thread.interrupted();
                }
            }
            assertNothingInUse();
            pipe.close();
        }
    }

    @Test
    void memoryIsFreeWhenTheTableEndsWithAWriteThatWaits() throws Exception {
        Pipe pipe = new Pipe();
        FixedBufferTable own = FixedBufferTable.open(4);
        SealedFileWriter file = new SealedFileWriter(pipe.file(), "pipe", own, (_, _) -> null, SHORT);
        try (SealedBuffer buffer = buffer(memory, MIB, new ByteArrayOutputStream())) {
            assertThrows(PosixException.class, () -> file.append(buffer));
        }
        file.close();
        own.close();
        pipe.close();
    }

    @Test
    @Needs(Piece.SHM)
    void fileSystemInMemoryIsRefusedByName() throws Exception {
        Path shm = Path.of("/dev/shm");
        Path path = shm.resolve("bulla-" + ProcessHandle.current().pid());
        PosixException refused = assertThrows(PosixException.class, () -> writer(path));
        assertEquals(Errno.EINVAL, refused.errno());
        assertTrue(refused.getMessage().contains("O_DIRECT")
                && refused.getMessage().contains("path=" + path));
        assertTrue(Files.notExists(path));
    }

    @Test
    void fileThatCannotBeMadeIsNamed() throws Exception {
        Path there = Files.createFile(directory.resolve("there"));
        PosixException exists = assertThrows(PosixException.class, () -> writer(there));
        assertEquals(Errno.EEXIST, exists.errno());
        assertTrue(exists.getMessage().contains("path=" + there), exists::getMessage);
        Path nowhere = directory.resolve("no").resolve("such");
        assertEquals(
                Errno.ENOENT,
                assertThrows(PosixException.class, () -> writer(nowhere)).errno());
    }

    @Test
    void belongsToTheTablesThreadUntilItIsClosed() throws Exception {
        SealedFileWriter file = writer("owned");
        ExecutionException elsewhere = assertThrows(
                ExecutionException.class,
                () -> CompletableFuture.runAsync(() -> {
                            try {
                                file.flush();
                            } catch (IOException unexpected) {
                                throw new AssertionError(unexpected);
                            }
                        })
                        .get(30, TimeUnit.SECONDS));
        assertEquals(WrongThreadException.class, elsewhere.getCause().getClass());
        file.close();
        file.close();
        assertThrows(IllegalStateException.class, file::flush);
    }

    private SealedFileWriter writer(String name) throws PosixException {
        return writer(directory.resolve(name));
    }

    private SealedFileWriter writer(Path path) throws PosixException {
        return SealedFileWriter.create(path, table, registrations::use, PATIENCE);
    }

    private SealedBuffer buffer(MemorySource from, int size, ByteArrayOutputStream expected) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        expected.writeBytes(bytes);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(from, size)) {
            return builder.put(bytes).seal();
        }
    }

    /// What was cancelled is answered.
    private void assertNothingInUse() {
        registrations.held().forEach(each -> assertTrue(each.phase().endsWith("uses=0"), each::toString));
    }

    /// @return the limit before
    private static long fileSizeLimit(long bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(16, 8);
            MemorySegment errno = arena.allocate(JAVA_INT);
            int got = (int)
                    Libc.function("getrlimit", JAVA_INT, JAVA_INT, ADDRESS).invokeExact(errno, RLIMIT_FSIZE, both);
            long before = both.get(JAVA_LONG, 0);
            both.set(JAVA_LONG, 0, bytes);
            int set = (int)
                    Libc.function("setrlimit", JAVA_INT, JAVA_INT, ADDRESS).invokeExact(errno, RLIMIT_FSIZE, both);
            assertEquals(0, got + set);
            return before;
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    /// No one reads: what is written waits for ever.
    private final class Pipe {

        private final int reads;
        private final DirectFile file;

        Pipe() throws Exception {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment ends = arena.allocate(8, 4);
                int made = callPipe(arena.allocate(JAVA_INT), ends);
                assertEquals(0, made);
                reads = ends.get(JAVA_INT, 0);
                file = new DirectFile(new Descriptor(ends.get(JAVA_INT, 4), "pipe"), 1, 1);
            }
        }

        DirectFile file() {
            return file;
        }

        SealedFileWriter writer(Duration patience) {
            return new SealedFileWriter(file, "pipe", table, registrations::use, patience);
        }

        void close() {
            Call.current().close(reads);
        }

        private static int callPipe(MemorySegment errno, MemorySegment ends) {
            try {
                return (int) Libc.function("pipe", JAVA_INT, ADDRESS).invokeExact(errno, ends);
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        }
    }
}
