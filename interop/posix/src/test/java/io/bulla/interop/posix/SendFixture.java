// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/// A sender and a peer over TCP, and what they may leave behind: no descriptor, mapping, thread or handle.
final class SendFixture {

    static final int MIB = 1 << 20;

    private static final String RING = "io_uring";

    final LeaseTally handles = new LeaseTally();
    final PosixSocket sender;
    final PosixSocket peer;
    private final MemoryBudget budget = MemoryBudget.unlimited();
    private final ArenaSource source =
            ArenaSource.builder().budget(budget).trace(handles).build();
    private final long files;
    private final long mappings;
    private final int threads;

    SendFixture() throws IOException {
        // all classes and threads that a send needs are there before anything is counted
        try (Outbox warm = Outbox.open()) {
            warm.progress(0);
        }
        buffer(new byte[1]).close();
        files = Descriptors.open();
        mappings = Descriptors.mappings(RING);
        threads = Thread.activeCount();
        PosixSocket[] pair = tcpPair();
        sender = pair[0];
        peer = pair[1];
    }

    static PosixSocket[] tcpPair() throws PosixException {
        try (PosixSocket server = PosixSocket.listen(0)) {
            PosixSocket client = PosixSocket.connect(server.port());
            return new PosixSocket[] {client, server.accept()};
        }
    }

    void close() throws IOException, InterruptedException {
        sender.close();
        peer.close();
        Descriptors.assertOpen(files);
        assertEquals(mappings, Descriptors.mappings(RING));
        assertEquals(0, handles.open());
        int now = Thread.activeCount();
        for (int wait = 0; now > threads && wait < 12_000; wait++) {
            Thread.sleep(5);
            now = Thread.activeCount();
        }
        assertTrue(now <= threads, () -> "threads=" + Thread.activeCount() + " before=" + threads);
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
    }

    SealedBuffer buffer(byte[] bytes) {
        return BufferBuilder.create(source).put(bytes).seal();
    }

    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    /// Reads until there are so many bytes, or the end.
    static byte[] receive(PosixSocket from, int size) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(size + 1);
            long done = 0;
            while (done < size) {
                long read = from.receive(target.asSlice(done, size - done));
                if (read < 0) {
                    break;
                }
                done += read;
            }
            return target.asSlice(0, done).toArray(JAVA_BYTE);
        } catch (PosixException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Receives on a thread of its own, which ends with it.
    static CompletableFuture<byte[]> receiveBeside(PosixSocket from, int size) {
        Executor ownThread = task -> Thread.ofPlatform().start(task);
        return CompletableFuture.supplyAsync(() -> receive(from, size), ownThread);
    }
}
