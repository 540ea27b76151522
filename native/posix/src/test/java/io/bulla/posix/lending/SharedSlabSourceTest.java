// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.posix.Errno;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.calls.MemoryLeft;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.internal.memory.SlabFile;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class SharedSlabSourceTest {

    private static final int EPERM = -1;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = new MemoryBudget(16 * SlabSource.SLAB);

    @TempDir
    private Path folder;

    @AfterEach
    void nothingIsBooked() {
        assertEquals(0, handles.open());
        Descriptors.assertBookedOff(budget);
    }

    private SlabSource.Builder options() {
        return SlabSource.builder().budget(budget).trace(handles);
    }

    private static int fd(SharedSlabSource source, SealedBuffer buffer) {
        return fileOf(source, buffer).descriptor().fd();
    }

    private static SlabFile fileOf(SharedSlabSource source, SealedBuffer buffer) {
        Slab slab = Slab.of(buffer.iovec(), 0);
        assertNotNull(slab);
        SlabFile file = source.file(slab);
        assertNotNull(file);
        return file;
    }

    @Test
    void bufferIsAPartOfAMemoryFileThatAnotherMappingReads() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        byte[] bytes = SendFixture.random(100_000);
        try (BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer buffer = builder.put(bytes).seal()) {
            SlabFile file = fileOf(source, buffer);
            long offset =
                    buffer.iovec().lent().region(0).address() - file.segment().address();
            Mapping other = Mapping.readOnly(file.descriptor().fd(), 0, SlabSource.SLAB, true);
            assertArrayEquals(
                    bytes, other.segment().asSlice(offset, bytes.length).toArray(JAVA_BYTE));
            other.close();
        }
        source.close(PATIENCE);
    }

    @Test
    void everyPageIsTakenFromTheStart() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        Region region = source.allocate(3 * SlabSource.SLAB - 5);
        Slab slab = Slab.of(region);
        assertNotNull(slab);
        SlabFile file = source.file(slab);
        assertNotNull(file);
        assertEquals(
                new Memfd.Extent(3 * SlabSource.SLAB, 3 * SlabSource.SLAB),
                Memfd.extent(file.descriptor().fd()));
        assertEquals(3 * SlabSource.SLAB, budget.used());
        region.release();
        source.close(PATIENCE);
    }

    @Test
    void onlyTheFirstMappingWrites() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        try (SealedBuffer buffer =
                BufferBuilder.create(source).put(new byte[10]).seal()) {
            int fd = fd(source, buffer);
            assertEquals(Memfd.ONE_WRITER, Memfd.seals(fd) & Memfd.ONE_WRITER);
            assertEquals(0, Memfd.seals(fd) & Memfd.SEAL_WRITE);
            assertEquals(EPERM, Memfd.map(fd, 0, SlabSource.SLAB, true, true));
            assertEquals(EPERM, Memfd.truncate(fd, 0));
            assertEquals(EPERM, Memfd.truncate(fd, 2 * SlabSource.SLAB));
            assertEquals(EPERM, Memfd.addSeals(fd, Memfd.SEAL_WRITE));
            // the owner's own
            Region region = source.allocate(100);
            region.segment().fill((byte) 7);
            region.release();
        }
        source.close(PATIENCE);
    }

    @Test
    void slabThatWasUsedLastIsUsedNext() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        Region first = source.allocate(2 * SlabSource.SLAB);
        Region second = source.allocate(2 * SlabSource.SLAB);
        long address = second.segment().address();
        first.release();
        source.figures();
        second.release();
        Region again = source.allocate(2 * SlabSource.SLAB);
        assertEquals(address, again.segment().address());
        again.release();
        source.close(PATIENCE);
    }

    @Test
    void slabIsRetiredWhole() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        long before = Descriptors.open();
        Region region = source.allocate(100);
        MemorySegment raw = region.segment();
        Descriptors.assertOpen(before + 1);
        region.release();
        source.trim();
        assertEquals(0, budget.used());
        Descriptors.assertOpen(before);
        assertThrows(IllegalStateException.class, () -> raw.get(JAVA_BYTE, 0));
        source.allocate(100).release();
        source.close(PATIENCE);
        source.close();
    }

    @Test
    void bufferOfAnotherSourceHasNoFile() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        try (SlabSource pool = SlabSource.create();
                ArenaSource arenas = ArenaSource.create();
                SealedBuffer pooled =
                        BufferBuilder.create(pool).put(new byte[10]).seal();
                SealedBuffer carved =
                        BufferBuilder.create(arenas).put(new byte[10]).seal()) {
            Slab slab = Slab.of(pooled.iovec(), 0);
            assertNotNull(slab);
            assertNull(source.file(slab));
            assertNull(Slab.of(carved.iovec(), 0));
        }
        source.close(PATIENCE);
    }

    @Test
    void budgetComesFirst() throws Exception {
        MemoryBudget little = new MemoryBudget(2 * SlabSource.SLAB);
        SharedSlabSource source = SharedSlabSource.create(SlabSource.builder().budget(little));
        assertThrows(MemoryLimitException.class, () -> source.allocate(3 * SlabSource.SLAB));
        assertEquals(0, little.used());
        assertEquals(0, source.figures().slabs());
        source.close(PATIENCE);
    }

    /// Without a budget's limit the machine's is the only one, and the kernel does not say no but kills.
    @Test
    void machineAndControlGroupComeBeforeTheFile() throws Exception {
        Path proc = Files.createDirectories(folder.resolve("proc/self"));
        Files.writeString(proc.resolve("cgroup"), "0::/\n");
        Path group = Files.createDirectories(folder.resolve("cgroup"));
        Files.writeString(group.resolve("memory.max"), "67108864");
        Files.writeString(group.resolve("memory.current"), "62914560");
        MemoryBudget unlimited = MemoryBudget.unlimited();
        SharedSlabSource source = SharedSlabSource.within(
                new MemoryLeft(folder.resolve("proc"), group),
                SlabSource.builder().budget(unlimited));
        source.allocate(100).release();
        MemoryLimitException refused =
                assertThrows(MemoryLimitException.class, () -> source.allocate(2 * SlabSource.SLAB));
        assertEquals("no memory for a shared slab: bytes=4194304 left=2097152 files=1", refused.getMessage());
        assertTrue(source.figures().bookedBytes() <= SlabSource.SLAB, source::toString);
        source.close(PATIENCE);
        assertEquals(0, unlimited.used());
    }

    /// More than any machine has: refused before a file is made, as the kernel would not refuse it.
    @Test
    void terabyteIsRefused() throws Exception {
        MemoryBudget unlimited = MemoryBudget.unlimited();
        SharedSlabSource source = SharedSlabSource.create(SlabSource.builder().budget(unlimited));
        assertThrows(MemoryLimitException.class, () -> source.allocate(1L << 42));
        assertEquals(0, unlimited.used());
        source.close(PATIENCE);
    }

    @Test
    void callThatFailsIsNamedAndLeavesNothing() throws Exception {
        SharedSlabSource source = SharedSlabSource.create(options());
        for (String call : new String[] {"memfd_create", "ftruncate", "mmap", "madvise", "fcntl"}) {
            SyscallInterceptor.watch((name, arguments) -> name.equals(call) ? Errno.ENOMEM.number() : 0);
            try {
                MemoryLimitException refused =
                        assertThrows(MemoryLimitException.class, () -> source.allocate(100), call);
                assertEquals(
                        "the system refuses a shared slab: " + call
                                + ": Cannot allocate memory: errno=12 bytes=2097152",
                        refused.getMessage());
            } finally {
                SyscallInterceptor.watch(null);
            }
            assertEquals(0, budget.used(), call);
            noFileIsOpen();
        }
        source.allocate(100).release();
        source.close(PATIENCE);
    }

    private static void noFileIsOpen() throws IOException {
        Descriptors.assertNoMemoryFile();
    }
}
