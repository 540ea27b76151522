// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What a borrower may say that is not true. Each time it is cut off, what it has stays untouched until its
/// string hangs up, and an honest borrower beside it notices nothing.
@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class HostileBorrowerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int LEASES = 5;

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = new MemoryBudget(32 * SlabSource.SLAB);
    private final ArenaSource copies = ArenaSource.create();

    @TempDir
    private Path parent;

    private SharedSlabSource memory;
    private SlabLender lender;
    private SlabBorrower honest;
    private SlabPeer toHonest;
    private Liar liar;
    private SlabPeer toLiar;
    private SlabRecord last;

    private interface Words {
        void say(Liar liar, SlabRecord last) throws Exception;
    }

    enum Lie {
        TWICE((liar, last) -> {
            liar.say(last.slot(), last.generation(), last.slab());
            liar.say(last.slot(), last.generation(), last.slab());
        }),
        SLOT_PAST_THE_TABLE((liar, last) -> liar.say(Integer.MAX_VALUE, last.generation(), last.slab())),
        SLOT_OF_NO_USE((liar, last) -> liar.say(LEASES + 1, 0, last.slab())),
        GREETING_AGAIN((liar, last) -> liar.say(SlabRecord.HELLO, SlabRecord.VERSION, 1)),
        KIND_OF_THE_LENDERS((liar, last) -> liar.say(SlabRecord.BYTES, 0, 100)),
        LOWEST_SLOT((liar, last) -> liar.say(Integer.MIN_VALUE, 0, last.slab())),
        OTHER_GENERATION((liar, last) -> liar.say(last.slot(), last.generation() + 1, last.slab())),
        OTHER_SLAB((liar, last) -> liar.say(last.slot(), last.generation(), last.slab() + 1)),
        UNMAPPED_WHILE_LENT((liar, last) -> liar.say(SlabRecord.UNMAP, 0, last.slab())),
        UNMAPPED_OF_NOTHING((liar, last) -> liar.say(SlabRecord.UNMAP, 0, Long.MIN_VALUE)),
        DESCRIPTOR((liar, last) -> {
            try (Arena arena = Arena.ofConfined()) {
                Rights.send(
                        SocketDoor.stream(liar.socket()),
                        arena.allocate(16, 8),
                        liar.files().getFirst());
            }
        }),
        FIVE_THOUSAND((liar, last) -> {
            try {
                for (int i = 0; i < 5000; i++) {
                    liar.say(i, 0, last.slab());
                }
            } catch (PosixException cutOff) {
                // on the way
            }
        }),
        RANDOM((liar, last) -> {
            byte[] words = new byte[1 << 16];
            new Random(7).nextBytes(words);
            try {
                liar.say(words);
            } catch (PosixException cutOff) {
                // on the way
            }
        });

        private final Words words;

        Lie(Words words) {
            this.words = words;
        }
    }

    @BeforeEach
    void connect() throws Exception {
        Path folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        memory = SharedSlabSource.create(SlabSource.builder().budget(budget).trace(handles));
        lender = SlabLender.open(folder, memory, SlabQuota.standard());
        honest = SlabBorrower.connect(lender.path(), 1, copies, 1 << 20);
        toHonest = lender.accept(PATIENCE);
        assertNotNull(toHonest);
    }

    private void greetLiar() throws Exception {
        liar = Liar.greeted(lender.path());
        toLiar = lender.accept(PATIENCE);
        assertNotNull(toLiar);
        for (int i = 0; i < LEASES; i++) {
            try (SealedBuffer message = message(1000)) {
                assertTrue(toLiar.lend(message));
            }
            last = liar.receive();
        }
    }

    private SealedBuffer message(int size) {
        return BufferBuilder.create(memory).put(SendFixture.random(size)).seal();
    }

    private void serveHonest() throws Exception {
        try (SealedBuffer message = message(3000)) {
            assertTrue(toHonest.lend(message));
        }
        try (SealedBuffer received = honest.receive()) {
            assertArrayEquals(SendFixture.random(3000), received.toByteArray());
        }
        SlabLendingTest.await(() -> toHonest.leases() == 0);
        assertNull(toHonest.gone());
    }

    @AfterEach
    void nothingStays() throws Exception {
        serveHonest();
        honest.close();
        lender.close(PATIENCE);
        memory.close(PATIENCE);
        copies.close(PATIENCE);
        assertEquals(0, handles.open());
        assertEquals(0, budget.used());
    }

    @ParameterizedTest
    @EnumSource(Lie.class)
    void liarIsCutOffAndWhatItHadRests(Lie lie) throws Exception {
        greetLiar();
        serveHonest();
        lie.words.say(liar, last);
        SlabLendingTest.await(() -> lender.figures().cutOff() == 1);
        SlabLendingTest.await(() -> toLiar.gone() != null);
        assertTrue(String.valueOf(toLiar.gone()).startsWith("cut off, it said what is not true: "), toLiar::gone);
        // what it gave back before the lie is not its any more
        int before = toLiar.leases();
        assertTrue(before >= LEASES - 1 - (lie == Lie.FIVE_THOUSAND ? LEASES : 0), "leases=" + before);
        serveHonest();
        assertEquals(before, lender.figures().quarantined());
        liar.dropString();
        SlabLendingTest.await(() -> lender.figures().peers() == 1);
        assertEquals(0, toLiar.leases());
        assertEquals(before, lender.figures().reclaimed());
        liar.close();
    }

    /// The end of the connection says nothing about the mapping.
    @Test
    void closedConnectionGivesNothingBack() throws Exception {
        greetLiar();
        liar.socket().close();
        SlabLendingTest.await(() -> toLiar.gone() != null);
        byte[] before = content();
        for (int i = 0; i < 100; i++) {
            message(1000).close();
            serveHonest();
        }
        assertArrayEquals(before, content());
        assertEquals(LEASES, toLiar.leases());
        assertEquals(LEASES, lender.figures().quarantined());
        assertEquals(0, lender.figures().cutOff());
        liar.close();
        SlabLendingTest.await(() -> lender.figures().peers() == 1);
        assertEquals(0, toLiar.leases());
    }

    private byte[] content() throws Exception {
        Mapping mapping = Mapping.readOnly(liar.files().getFirst(), 0, SlabSource.SLAB, true);
        try {
            return mapping.segment()
                    .asSlice(last.offset(), last.length())
                    .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        } finally {
            mapping.close();
        }
    }

    @Test
    void stringThatHangsUpEndsTheConnectionToo() throws Exception {
        greetLiar();
        liar.dropString();
        SlabLendingTest.await(() -> lender.figures().peers() == 1);
        assertEquals(LEASES, lender.figures().reclaimed());
        assertEquals(0, toLiar.leases());
        liar.close();
    }

    @Test
    void wordsInPiecesAreWords() throws Exception {
        greetLiar();
        byte[] word = new byte[16];
        java.nio.ByteBuffer.wrap(word)
                .putInt(last.slot())
                .putInt(last.generation())
                .putLong(last.slab());
        for (byte each : word) {
            liar.say(each);
        }
        SlabLendingTest.await(() -> toLiar.leases() == LEASES - 1);
        assertNull(toLiar.gone());
        liar.close();
        SlabLendingTest.await(() -> lender.figures().peers() == 1);
    }

    @Test
    void oneThatDoesNotGreetIsNoPeer() throws Exception {
        try (Liar silent = Liar.silent(lender.path());
                Liar wrong = Liar.silent(lender.path())) {
            wrong.say(SlabRecord.HELLO, SlabRecord.VERSION + 1, 0);
            SlabLendingTest.await(() -> lender.figures().cutOff() == 1);
            serveHonest();
            assertNull(lender.accept(Duration.ZERO));
            silent.say((byte) 1);
            serveHonest();
            assertNull(lender.accept(Duration.ZERO));
        }
        SlabLendingTest.await(() -> lender.figures().peers() == 1);
    }

    /// What the kernel refuses of one that has the descriptor.
    @Test
    void borrowerCannotWriteOrChangeTheFile() throws Exception {
        greetLiar();
        int fd = liar.files().getFirst();
        assertEquals(-1, Memfd.map(fd, 0, SlabSource.SLAB, true, true));
        assertEquals(-1, Memfd.truncate(fd, 0));
        assertEquals(-1, Memfd.addSeals(fd, Memfd.SEAL_WRITE));
        liar.close();
        SlabLendingTest.await(() -> lender.figures().peers() == 1);
    }
}
