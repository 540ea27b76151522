// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// The side that hands messages over, one way or another, to processes that have connected. The messages are made
/// before they are measured.
final class Giving implements AutoCloseable {

    static final int LEASES = 1024;
    private static final int PAUSE_NANOS = 10_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), null);
    private final MemfdSource files = MemfdSource.create(MemoryBudget.unlimited(), null);
    private final SharedSlabSource slabs =
            SharedSlabSource.create(SlabSource.builder().budget(MemoryBudget.unlimited()));
    private final SealedBuffer word = new Look(Long.BYTES, false, 0).message(arenas);
    private final Path socket;
    private final SlabLender lender;
    private final PosixSocket listener;
    private final PosixSocket[] sockets;
    private final SlabPeer[] borrowers;
    private final Map<Integer, SealedBuffer> inSlabs = new HashMap<>();
    private final Map<Integer, SealedBuffer> inArenas = new HashMap<>();
    private final Map<Integer, SealedFileHandoff> inFiles = new HashMap<>();

    /// @param folder for its sockets, of mode 0700
    /// @param name of the socket in it
    Giving(Path folder, String name, int processes) throws IOException {
        socket = folder.resolve(name);
        sockets = new PosixSocket[processes];
        borrowers = new SlabPeer[processes];
        listener = PosixSocket.listen(socket);
        lender = SlabLender.open(folder, slabs, new SlabQuota(LEASES, Long.MAX_VALUE));
    }

    /// Where the slabs are borrowed.
    Path lender() {
        return lender.path();
    }

    /// Makes the messages of a look.
    void prepare(Look look) throws IOException {
        inSlabs.put(look.bytes(), look.message(slabs));
        inArenas.put(look.bytes(), look.message(arenas));
        inFiles.put(look.bytes(), SealedFileHandoff.move(look.message(files), 0, files));
        look.write(socket);
    }

    /// Waits until each has connected, the socket first: what it is called is the first thing there.
    void awaitAll() throws IOException, InterruptedException {
        for (int i = 0; i < sockets.length; i++) {
            PosixSocket socket = listener.accept();
            SlabPeer borrower = lender.accept(PATIENCE);
            if (borrower == null) {
                throw new IOException("no borrower has come: sockets=" + (i + 1));
            }
            borrowers[(int) borrower.token()] = borrower;
            sockets[Taking.index(socket)] = socket;
        }
    }

    void give(Way way, Look look, int to) throws IOException {
        switch (way) {
            case SLAB -> lend(look, to);
            case SEAL -> inFiles.get(look.bytes()).sendTo(sockets[to]);
            case BYTES -> sockets[to].moveAndSend(inArenas.get(look.bytes()).share());
            case THERE -> sockets[to].moveAndSend(word.share());
        }
    }

    /// A borrower that has all that it may have takes some time to give it back.
    private void lend(Look look, int to) throws IOException {
        while (!borrowers[to].lend(inSlabs.get(look.bytes()))) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @Override
    public void close() throws IOException {
        for (PosixSocket each : sockets) {
            if (each != null) {
                each.close();
            }
        }
        listener.close();
        inSlabs.values().forEach(SealedBuffer::close);
        inArenas.values().forEach(SealedBuffer::close);
        inFiles.values().forEach(SealedFileHandoff::close);
        word.close();
        lender.close();
        slabs.close();
        arenas.close();
    }
}
