// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Capabilities;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.refcount.LeaseTally;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The system has no more: what is refused leaves nothing behind, and the next one is served.
@Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
class ScarcityTest {

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final MemfdSource source = MemfdSource.create(budget, handles);
    private PosixSocket[] pair;
    private long files;
    private long adopted;

    @BeforeEach
    void openPair() throws IOException {
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
        Descriptors.assertBookedOff(budget);
    }

    private SealedBuffer sealed(byte... bytes) {
        return BufferBuilder.create(source).put(bytes).seal();
    }

    /// No further file can be opened meanwhile, by anybody in this process.
    private static void withoutDescriptors(Capabilities.Work work) throws Throwable {
        Capabilities.withDescriptors(0, work);
    }

    /// On a thread of its own, which cannot map files any more.
    private static void withoutMappings(Capabilities.Work prepared, Capabilities.Work work) throws Throwable {
        CompletableFuture<Boolean> filtered = new CompletableFuture<>();
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                prepared.run();
                boolean forbidden = Capabilities.forbidMappingFiles();
                filtered.complete(forbidden);
                if (forbidden) {
                    work.run();
                }
                done.complete(null);
            } catch (Throwable failure) {
                filtered.complete(true);
                done.completeExceptionally(failure);
            }
        });
        Piece.FILTERS.orSkip(filtered.get(20, TimeUnit.SECONDS) ? null : "system calls cannot be filtered");
        try {
            done.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause();
        }
    }

    @Test
    void noDescriptorForAMemoryFile() throws Throwable {
        sealed((byte) 1).close();
        withoutDescriptors(() -> assertEquals(
                "the system refuses a memory file: memfd_create: Too many open files: errno=24 bytes=4096 limit=0",
                assertThrows(MemoryLimitException.class, () -> source.allocate(1))
                        .getMessage()));
        sealed((byte) 2).close();
    }

    /// The kernel throws the descriptor away and says that it did: the receiver's want, and not the sender's fault.
    @Test
    void noDescriptorForASeal() throws Throwable {
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed((byte) 3), 0, source)) {
            seal.sendTo(pair[0]);
            withoutDescriptors(() -> assertEquals(
                    "recvmsg: Too many open files: errno=24 descriptors=0 limit=0",
                    assertThrows(PosixException.class, () -> SealedFileHandoff.receiveFrom(pair[1], 1))
                            .getMessage()));
            seal.sendTo(pair[0]);
        }
        receiveOne((byte) 3);
    }

    @Test
    void noMappingForAMemoryFile() throws Throwable {
        withoutMappings(
                () -> sealed((byte) 1).close(),
                () -> assertEquals(
                        "the system refuses a memory file: mmap: Operation not permitted: errno=1 bytes=4096",
                        assertThrows(MemoryLimitException.class, () -> source.allocate(1))
                                .getMessage()));
    }

    @Test
    void noMappingForWhatIsSealed() throws Throwable {
        BufferBuilder[] builder = new BufferBuilder[1];
        withoutMappings(
                () -> {
                    sealed((byte) 1).close();
                    builder[0] = BufferBuilder.create(source).put(new byte[] {1, 2, 3});
                },
                () -> {
                    try (BufferBuilder unsealed = builder[0]) {
                        String message = assertThrows(IllegalStateException.class, unsealed::seal)
                                .getMessage();
                        assertTrue(message.startsWith("cannot seal a memory file: mmap: "), message);
                    }
                });
    }

    @Test
    void noMappingForWhatIsReceived() throws Throwable {
        try (SealedFileHandoff seal = SealedFileHandoff.move(sealed((byte) 4), 0, source)) {
            seal.sendTo(pair[0]);
            seal.sendTo(pair[0]);
            seal.sendTo(pair[0]);
        }
        withoutMappings(() -> receiveOne((byte) 4), () -> {
            String message = assertThrows(PosixException.class, () -> SealedFileHandoff.receiveFrom(pair[1], 1))
                    .getMessage();
            assertTrue(message.startsWith("mmap: Operation not permitted: errno=1"), message);
        });
        receiveOne((byte) 4);
    }

    private void receiveOne(byte expected) throws IOException {
        try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], 1);
                SealedBuffer buffer = received.share()) {
            assertArrayEquals(new byte[] {expected}, buffer.iovec().region(0).toArray(JAVA_BYTE));
        }
    }
}
