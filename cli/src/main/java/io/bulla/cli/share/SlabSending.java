// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/// A file in a shared slab, with its digest behind it, and the processes that borrow it.
final class SlabSending implements AutoCloseable {

    /// Bytes behind the file's.
    static final int DIGEST = 32;

    private final SharedSlabSource memory = memory();
    private final SlabLender lender;
    private final SealedBuffer content;
    private final SlabPeer[] peers;

    /// @param file the bytes, which are copied into a slab once
    /// @param folder for the socket
    SlabSending(SealedBuffer file, Path folder, int processes) throws IOException {
        this.peers = new SlabPeer[processes];
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, file.byteSize() + DIGEST)) {
            content = builder.put(file.iovec()).put(Bytes.sha256(file)).seal();
        }
        try {
            lender = SlabLender.open(folder, memory, new SlabQuota(16, Long.MAX_VALUE));
        } catch (Throwable failure) {
            content.close();
            memory.close();
            throw failure;
        }
    }

    static SharedSlabSource memory() {
        return SharedSlabSource.create(SlabSource.builder().budget(MemoryBudget.unlimited()));
    }

    /// Where receivers connect, before they say that they are there.
    Path path() {
        return lender.path();
    }

    /// Finds out which borrower is which process. All of them have connected.
    void awaitAll() throws IOException, InterruptedException {
        for (int i = 0; i < peers.length; i++) {
            SlabPeer peer = lender.accept(Duration.ofSeconds(1));
            if (peer == null || peer.token() < 0 || peer.token() >= peers.length) {
                throw new IOException("not a receiver that was started: peer=" + peer);
            }
            peers[(int) peer.token()] = peer;
        }
    }

    void to(Link link) throws IOException {
        peers[link.index()].send(content);
    }

    @Override
    public void close() {
        content.close();
        lender.close();
        memory.close();
    }
}
