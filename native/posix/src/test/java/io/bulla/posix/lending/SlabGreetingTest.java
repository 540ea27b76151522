// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.fixtures.NothingStays;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.Poll;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// Connections to a lender that say nothing: they stop no borrower, and hear why they were ended.
@ExtendWith(NothingStays.class)
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class SlabGreetingTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SILENT = 100;

    private final MemoryBudget budget = new MemoryBudget(32 * SlabSource.SLAB);
    private final ArenaSource copies = ArenaSource.create();
    private final List<Liar> silent = new ArrayList<>();

    @TempDir
    private Path parent;

    private Path folder;
    private SharedSlabSource memory;
    private SlabLender lender;

    @BeforeEach
    void open() throws Exception {
        folder = Files.createDirectory(
                parent.resolve("f"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        memory = SharedSlabSource.create(SlabSource.builder().budget(budget));
        lender = SlabLender.open(folder, memory, SlabQuota.standard());
    }

    @AfterEach
    void nothingStays() throws Exception {
        silent.forEach(Liar::close);
        lender.close(PATIENCE);
        memory.close(PATIENCE);
        copies.close(PATIENCE);
        assertEquals(0, budget.used());
    }

    private void serveOne() throws Exception {
        try (SlabBorrower borrower = SlabBorrower.connect(lender.path(), 1, copies, 1 << 20)) {
            SlabPeer peer = lender.accept(PATIENCE);
            assertNotNull(peer);
            try (SealedBuffer message =
                    BufferBuilder.create(memory).put(SendFixture.random(3000)).seal()) {
                assertTrue(peer.lend(message));
            }
            try (SealedBuffer received = borrower.receive()) {
                assertArrayEquals(SendFixture.random(3000), received.toByteArray());
            }
        }
    }

    @Test
    void connectionsThatSayNothingAreFew() throws Exception {
        for (int i = 0; i < SILENT; i++) {
            silent.add(Liar.silent(lender.path()));
        }
        SlabLendingTest.await(() -> lender.figures().refused() >= SILENT - 64);
        serveOne();
        assertTrue(lender.figures().peers() <= 65, () -> "" + lender.figures());
    }

    @Test
    void placesWithoutADescriptorAreNotCounted() throws Exception {
        Poll poll = new Poll();
        PosixSocket[] pair = PosixSocket.unixPair();
        pair[1].close();
        int places = 1_100_000;
        for (int i = 0; i < places; i++) {
            poll.add(Poll.NONE, Libc.POLLIN);
        }
        poll.add(SocketDoor.stream(pair[0]).descriptor().fd(), Libc.POLLIN);
        poll.await(0);
        assertTrue(poll.saw(places));
        assertEquals(false, poll.saw(places - 1));
        pair[0].close();
    }

    private static SlabRecord refusal(Liar of) throws Exception {
        SlabRecord said = of.receive();
        assertEquals(SlabRecord.MAGIC, said.slab());
        assertEquals(SlabRecord.REFUSED, said.slot());
        assertEquals(Call.descriptorLimit(), said.length());
        assertThrows(IOException.class, of::receive);
        return said;
    }

    @Test
    void oldestOfTheSilentHearsWhyItIsEnded() throws Exception {
        for (int i = 0; i < SILENT; i++) {
            silent.add(Liar.silent(lender.path()));
        }
        assertEquals(Errno.EBUSY.number(), refusal(silent.getFirst()).generation());
    }

    @Test
    void silentConnectionIsEndedWhenItsTimeIsOver() throws Exception {
        try (SlabLender strict = SlabLender.open(folder, memory, SlabQuota.standard(), Duration.ofMillis(20))) {
            silent.add(Liar.silent(strict.path()));
            assertEquals(Errno.ETIMEDOUT.number(), refusal(silent.getFirst()).generation());
            SlabLendingTest.await(() -> strict.figures().peers() == 0);
            assertEquals(1, strict.figures().refused());
        }
    }

    /// The lender's process has none left for the string.
    @Test
    void borrowerIsToldThatTheLenderHasNoDescriptorForItsString() throws Exception {
        SyscallInterceptor.watch((call, _) -> call.equals("socketpair") ? Errno.EMFILE.number() : 0);
        try {
            PosixException refused =
                    assertThrows(PosixException.class, () -> SlabBorrower.connect(lender.path(), 1, copies, 1 << 20));
            assertEquals(
                    "refused by the lender: Too many open files: errno=24 lender=" + lender.path()
                            + " lender-connections=0 lender-descriptors-limit=" + Call.descriptorLimit(),
                    refused.getMessage());
        } finally {
            SyscallInterceptor.watch(null);
        }
        serveOne();
    }

    /// Nor for the connection itself: a place that was kept for this is used.
    @Test
    void borrowerIsToldThatTheLenderHasNoDescriptorForItsConnection() throws Exception {
        serveOne();
        AtomicBoolean once = new AtomicBoolean();
        SyscallInterceptor.watch(
                (call, _) -> call.equals("accept4") && once.compareAndSet(false, true) ? Errno.EMFILE.number() : 0);
        try {
            PosixException refused =
                    assertThrows(PosixException.class, () -> SlabBorrower.connect(lender.path(), 1, copies, 1 << 20));
            assertEquals(Errno.EMFILE, refused.errno());
            assertTrue(
                    refused.getMessage().endsWith("lender-descriptors-limit=" + Call.descriptorLimit()),
                    refused::getMessage);
        } finally {
            SyscallInterceptor.watch(null);
        }
        serveOne();
    }

    @Test
    void systemThatRefusesForWantOfDescriptorsSaysTheirLimit() {
        SyscallInterceptor.watch((call, _) -> call.equals("socketpair") ? Errno.EMFILE.number() : 0);
        try {
            PosixException refused = assertThrows(PosixException.class, PosixSocket::unixPair);
            assertEquals(
                    "socketpair: Too many open files: errno=24 limit=" + Call.descriptorLimit(), refused.getMessage());
        } finally {
            SyscallInterceptor.watch(null);
        }
    }
}
