// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.fixtures.Attack;
import io.bulla.posix.fixtures.Capabilities;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.internal.calls.AlignedMemory;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What a lender may say that is not true, or send that is no slab. Each time the borrower refuses it, keeps nothing
/// of it, and ends the connection.
@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class HostileLenderTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long SLAB = 8192;
    private static final long LIMIT = 1 << 20;

    private final ArenaSource copies = ArenaSource.create();
    private final Arena arena = Arena.ofShared();

    @TempDir
    private Path folder;

    private PosixSocket listener;
    private PosixSocket socket;
    private PosixSocket[] string;
    private SlabBorrower borrower;

    /// One of them; it is behind a slab that is one.
    private enum Lie {
        SLAB_THAT_IS_NOT_SEALED(test -> test.slab(2, SLAB, test.file(SLAB, SLAB, 0))),
        SLAB_THAT_ANY_MAY_WRITE(test -> test.slab(2, SLAB, test.file(SLAB, SLAB, Memfd.SEAL_SHRINK | Memfd.SEAL_GROW))),
        SLAB_THAT_MAY_SHRINK(
                test -> test.slab(2, SLAB, test.file(SLAB, SLAB, Memfd.SEAL_GROW | Memfd.SEAL_FUTURE_WRITE))),
        SLAB_LONGER_THAN_ITS_FILE(test -> test.slab(2, SLAB + 1, test.file(SLAB, SLAB, Memfd.ONE_WRITER))),
        SLAB_WITH_HOLES(test -> test.slab(2, SLAB, test.file(SLAB, 1, Memfd.ONE_WRITER))),
        SLAB_OF_NO_LENGTH(test -> test.slab(2, 0, test.file(SLAB, SLAB, Memfd.ONE_WRITER))),
        SLAB_OF_NEGATIVE_LENGTH(test -> test.slab(2, -1, test.file(SLAB, SLAB, Memfd.ONE_WRITER))),
        SLAB_WITHOUT_A_FILE(test -> test.say(2, SlabRecord.SLAB, 0, SLAB)),
        SLAB_THAT_IS_KNOWN(test -> test.slab(1, SLAB, test.file(SLAB, SLAB, Memfd.ONE_WRITER))),
        SOCKET_FOR_A_SLAB(test -> test.say(2, SlabRecord.SLAB, 0, SLAB, Attack.fd(test.string[0]))),
        LEASE_ON_NO_SLAB(test -> test.say(2, 0, 0, 8)),
        LEASE_BEFORE_THE_SLAB(test -> test.say(1, 0, -8, 8)),
        LEASE_BEHIND_THE_SLAB(test -> test.say(1, 0, SLAB, 8)),
        LEASE_PAST_THE_END(test -> test.say(1, 0, SLAB - 8, 9)),
        LEASE_WHOSE_END_OVERFLOWS(test -> test.say(1, 0, Long.MAX_VALUE, 8)),
        LEASE_OF_NEGATIVE_LENGTH(test -> test.say(1, 0, 0, -1)),
        LEASE_OVER_THE_LIMIT(test -> test.say(1, 0, 0, LIMIT + 1)),
        LEASE_WITH_A_FILE(test -> test.say(1, 0, 0, 8, Attack.fd(test.string[0]))),
        END_OF_NO_SLAB(test -> test.say(2, SlabRecord.UNMAP, 0, 0)),
        BYTES_OVER_THE_LIMIT(test -> test.say(0, SlabRecord.BYTES, 0, LIMIT + 1)),
        NEGATIVE_BYTES(test -> test.say(0, SlabRecord.BYTES, 0, -1)),
        SEALED_FILE_OVER_THE_LIMIT(
                test -> test.sealed(LIMIT + 1, test.file(LIMIT + SLAB, LIMIT + SLAB, Memfd.IMMUTABLE))),
        SEALED_FILE_OF_NEGATIVE_LENGTH(test -> test.sealed(-1, test.file(SLAB, SLAB, Memfd.IMMUTABLE))),
        SEALED_FILE_THAT_ITS_SENDER_MAY_WRITE(test -> test.sealed(SLAB, test.file(SLAB, SLAB, Memfd.ONE_WRITER))),
        SEALED_FILE_WITHOUT_A_FILE(test -> test.say(1, SlabRecord.SEALED, 0, SLAB)),
        FILE_TO_KEEP_WITHOUT_A_FILE(test -> test.say(1, SlabRecord.FILE, 0, SLAB)),
        RECORD_OF_NO_KIND(test -> test.say(1, -100, 0, 8));

        private interface Words {
            void say(HostileLenderTest test) throws Exception;
        }

        private final Words words;

        Lie(Words words) {
            this.words = words;
        }
    }

    @BeforeEach
    void connect() throws Exception {
        listener = PosixSocket.listen(folder.resolve("lender"));
        string = PosixSocket.unixPair();
        borrower = connected();
        slab(1, SLAB, file(SLAB, SLAB, Memfd.ONE_WRITER));
        say(1, 0, 16, 8);
    }

    /// With a socket of its own, which the lies go to from now on.
    private SlabBorrower connected() throws Exception {
        Path path = folder.resolve("lender");
        CompletableFuture<SlabBorrower> connects = CompletableFuture.supplyAsync(() -> {
            try {
                return SlabBorrower.connect(path, 0, copies, LIMIT);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        if (socket != null) {
            socket.close();
        }
        socket = listener.accept();
        Rights.receive(SocketDoor.stream(socket), arena.allocate(SlabRecord.TO_LENDER, 8))
                .close();
        say(SlabRecord.MAGIC, SlabRecord.HELLO, 0, 0, Attack.fd(string[1]));
        return connects.get(60, TimeUnit.SECONDS);
    }

    @AfterEach
    void nothingStays() throws Exception {
        borrower.close();
        socket.close();
        listener.close();
        for (PosixSocket each : string) {
            each.close();
        }
        Descriptors.assertNoMemoryFile();
        copies.close(PATIENCE);
        arena.close();
    }

    private void say(long slab, int slot, long offset, long length, int... files) throws PosixException {
        MemorySegment record = arena.allocate(SlabRecord.TO_BORROWER, 8);
        int generation = slot == SlabRecord.HELLO ? SlabRecord.VERSION : 0;
        SlabRecord.lend(record, slab, slot, generation, offset, length);
        Rights.send(SocketDoor.stream(socket), record, files);
    }

    private void slab(long id, long length, int file) throws PosixException {
        hand(id, SlabRecord.SLAB, length, file);
    }

    private void sealed(long length, int file) throws PosixException {
        hand(1, SlabRecord.SEALED, length, file);
    }

    /// @param file closed
    private void hand(long id, int slot, long length, int file) throws PosixException {
        try {
            say(id, slot, 0, length, file);
        } finally {
            Call.current().close(file);
        }
    }

    /// @param bytes of whole pages: what is mapped ends with one
    /// @param taken bytes from its start that are written
    private int file(long bytes, long taken, int seals) {
        int fd = Memfd.create();
        assertTrue(fd >= 0 && Memfd.truncate(fd, bytes) == 0);
        long address = AlignedMemory.take(bytes);
        assertEquals(address, Memfd.mapOver(fd, address, bytes));
        Mapping mapping = Mapping.over(address, bytes);
        mapping.segment().asSlice(0, taken).fill((byte) 7);
        mapping.close();
        assertEquals(0, Memfd.addSeals(fd, seals));
        return fd;
    }

    @ParameterizedTest
    @EnumSource
    void lieIsRefusedAndWhatWasLentStays(Lie lie) throws Exception {
        try (SealedBuffer first = borrower.receive()) {
            lie.words.say(this);
            // one who believes it must not wait for more
            socket.close();
            assertThrows(SealRefusedException.class, () -> borrower.receive().close());
            // the connection is over, and the first one is good
            assertThrows(IOException.class, () -> borrower.receive().close());
            assertEquals(7, first.iovec().getByte(3));
        }
    }

    /// The rest of it never comes, and who listens does not wait.
    @Test
    void wordThatIsCutOffIsRefused() throws Exception {
        borrower.receive().close();
        borrower.link(new SlabBorrower.Link() {
            @Override
            public boolean giveBack(int slot, int generation, long slab) {
                return false;
            }

            @Override
            public void onWord(int what, long first, long second, ByteBuffer record) {
                throw new AssertionError("not a word");
            }
        });
        say(1, SlabRecord.WORD, 0, 0);
        assertTimeoutPreemptively(
                Duration.ofMinutes(1), () -> assertThrows(SealRefusedException.class, borrower::listenOnce));
    }

    /// Its record comes on another connection, and only then it is looked at.
    @Test
    void keptFileThatItsSenderMayWriteIsRefused() throws Exception {
        borrower.receive().close();
        hand(1, SlabRecord.FILE, SLAB, file(SLAB, SLAB, Memfd.ONE_WRITER));
        ByteBuffer record = ByteBuffer.allocate(SlabPeer.RECORD_BYTES)
                .putLong(1)
                .putInt(SlabRecord.FILE)
                .putInt(0)
                .putLong(0)
                .putLong(SLAB)
                .flip();
        assertThrows(SealRefusedException.class, () -> borrower.open(record).close());
    }

    /// With a limit like that of a fresh shell.
    @Test
    void slabsTakeNoMoreThanAQuarterOfTheDescriptors() throws Exception {
        borrower.receive().close();
        Capabilities.withDescriptors(1024, () -> {
            try (SlabBorrower bounded = connected()) {
                CompletableFuture<Throwable> ended = CompletableFuture.supplyAsync(() -> assertThrows(
                        SealRefusedException.class, () -> bounded.receive().close()));
                for (int i = 0; i < 5000 && !ended.isDone(); i++) {
                    try {
                        slab(100 + i, SLAB, file(SLAB, SLAB, Memfd.ONE_WRITER));
                    } catch (PosixException cutOff) {
                        // on the way
                    }
                }
                assertTrue(
                        ended.get(60, TimeUnit.SECONDS)
                                .getMessage()
                                .contains("more descriptors than a lender may have kept" + " here: descriptors=256 "),
                        () -> "" + ended);
            }
        });
    }

    @Test
    void slabThatIsOneIsBorrowed() throws Exception {
        try (SealedBuffer first = borrower.receive()) {
            slab(2, SLAB, file(SLAB, SLAB, Memfd.ONE_WRITER));
            say(2, 1, SLAB - 8, 8);
            try (SealedBuffer second = borrower.receive()) {
                assertEquals(first.iovec().getByte(0), second.iovec().getByte(7));
            }
        }
    }
}
