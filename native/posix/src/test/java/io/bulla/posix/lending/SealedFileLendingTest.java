// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.memory.SealedFile;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Buffers of sealed files go to a borrower as their files, between leases.
@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class SealedFileLendingTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SIZE = 300_000;

    private final LeaseLedger ledger = LeaseLedger.full();
    private final MemoryBudget budget = new MemoryBudget(32 * SlabSource.SLAB);
    private final MemfdSource guarded = MemfdSource.create(budget, ledger);
    private final ArenaSource copies = ArenaSource.create();

    @TempDir
    private Path parent;

    private Path folder;
    private SharedSlabSource memory;
    private SlabLender lender;
    private SlabBorrower borrower;
    private SlabPeer peer;

    @BeforeEach
    void open() throws Exception {
        folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        memory = SharedSlabSource.create(SlabSource.builder().budget(budget).trace(ledger));
        lender = SlabLender.open(folder, memory, SlabQuota.standard());
        borrower = SlabBorrower.connect(lender.path(), 17, copies, 1 << 20);
        peer = lender.accept(PATIENCE);
        assertNotNull(peer);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        borrower.close();
        lender.close(PATIENCE);
        memory.close(PATIENCE);
        assertEquals(List.of(), ledger.open());
        Descriptors.assertNoMemoryFile();
        Descriptors.assertBookedOff(budget);
        copies.close(PATIENCE);
    }

    private static SealedBuffer sealed(MemorySource source, int size) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, size)) {
            return builder.put(SendFixture.random(size)).seal();
        }
    }

    private ByteBuffer lent(SealedBuffer message) throws PosixException {
        ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
        assertTrue(peer.lend(message, record));
        return record.flip();
    }

    @Test
    void bufferOfASealedFileIsNoLease() throws Exception {
        try (SealedBuffer message = sealed(guarded, SIZE);
                SealedBuffer part = message.slice(5000, 100)) {
            for (SealedBuffer each : List.of(message, part)) {
                assertTrue(peer.lend(each));
                try (SealedBuffer received = borrower.receive()) {
                    assertArrayEquals(each.toByteArray(), received.toByteArray());
                    assertNotNull(SealedFile.of(received.iovec().lent().region(0)));
                    assertEquals(0, peer.leases());
                }
            }
        }
    }

    @Test
    void recordsOfFilesAndOfLeasesComeInAnyOrder() throws Exception {
        try (SealedBuffer file = sealed(guarded, SIZE);
                SealedBuffer slab = sealed(memory, SIZE)) {
            List<ByteBuffer> records = List.of(lent(file), lent(slab), lent(file), lent(slab));
            for (int each : new int[] {2, 3, 1, 0}) {
                try (SealedBuffer received = borrower.open(records.get(each))) {
                    assertArrayEquals(file.toByteArray(), received.toByteArray());
                }
            }
            // each is opened once
            assertThrows(SealRefusedException.class, () -> borrower.open(records.get(0)));
        }
    }

    @Test
    void whatWasReceivedIsHandedOnAndOutlivesTheSender() throws Exception {
        byte[] bytes;
        SealedBuffer first;
        try (SealedBuffer message = sealed(guarded, SIZE)) {
            bytes = message.toByteArray();
            first = borrower.open(lent(message));
        }
        SealedBuffer second = borrower.open(lent(first));
        first.close();
        borrower.close();
        lender.close(PATIENCE);
        assertArrayEquals(bytes, second.toByteArray());
        second.close();
    }

    @Test
    void filesThatAreNotOpenedEndWithTheBorrower() throws Exception {
        try (SealedBuffer message = sealed(guarded, SIZE)) {
            List<ByteBuffer> records = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                records.add(lent(message));
            }
            borrower.open(records.get(9)).close();
        }
    }

    /// As a stopped process: the socket fills up, and no thread waits.
    @Test
    void borrowerThatDoesNotReadGetsNoMoreFiles() throws Exception {
        try (SealedBuffer message = sealed(guarded, SIZE)) {
            List<ByteBuffer> records = new ArrayList<>();
            ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
            while (peer.lend(message, record)) {
                records.add(record.flip());
                record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
            }
            assertTrue(records.size() > 10, () -> "files=" + records.size());
            for (ByteBuffer each : records) {
                borrower.open(each).close();
            }
            borrower.open(lent(message)).close();
        }
        assertNull(peer.gone());
    }

    @Test
    void recordOfMoreThanTheFileHasIsRefused() throws Exception {
        try (SealedBuffer message = sealed(guarded, SIZE)) {
            ByteBuffer pastTheEnd = lent(message).putLong(24, 1 << 20);
            ByteBuffer overTheLimit = lent(message).putLong(24, 1L << 40);
            ByteBuffer negative = lent(message).putLong(16, -1);
            for (ByteBuffer wrong : List.of(pastTheEnd, overTheLimit, negative)) {
                assertThrows(SealRefusedException.class, () -> borrower.open(wrong));
            }
            // the others stay
            borrower.open(lent(message)).close();
        }
    }

    @Test
    void whatIsInNeitherIsNotLent() throws Exception {
        try (SealedBuffer foreign = sealed(copies, SIZE)) {
            assertFalse(peer.lend(foreign));
        }
    }
}
