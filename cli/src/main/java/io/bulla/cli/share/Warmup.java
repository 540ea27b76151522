// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.share;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.MappingProtection;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.memfd.SealedFileHandoff;
import io.bulla.posix.socket.PosixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/// Does everything a few times within one process, so that no figure measures the loading of classes.
final class Warmup {

    private static final int ROUNDS = 300;
    private static final int BYTES = 4 << 10;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Warmup() {}

    static void run() throws IOException {
        PosixSocket[] pair = PosixSocket.unixPair();
        try {
            copies(pair);
            if (hasMemoryFiles()) {
                seals(pair);
            }
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }

    private static void copies(PosixSocket[] pair) throws IOException {
        Link one = new Link(pair[0], 0);
        Link other = new Link(pair[1], 1);
        try (ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), null)) {
            for (int i = 0; i < ROUNDS; i++) {
                try (SealedBuffer buffer =
                        BufferBuilder.create(arenas).put(new byte[BYTES]).seal()) {
                    Bytes.sha256(buffer);
                    one.sendLong(i);
                    one.socket().moveAndSend(buffer.share());
                }
                other.receiveLong();
                Region region = arenas.allocate(BYTES);
                other.receiveInto(region.segment());
                SealedBuffer.adopt(arenas.seal(region, BYTES), region::release).close();
                one.send(Link.GO);
                other.receiveByte();
            }
        }
    }

    /// Copies go without them.
    private static boolean hasMemoryFiles() {
        try {
            MappingProtection.ofKernel();
            return true;
        } catch (UnsupportedOperationException none) {
            return false;
        }
    }

    private static void seals(PosixSocket[] pair) throws IOException {
        MemfdSource source = MemfdSource.create();
        for (int i = 0; i < ROUNDS; i++) {
            SealedBuffer content =
                    BufferBuilder.create(source).put(new byte[BYTES]).seal();
            try (SealedFileHandoff seal = SealedFileHandoff.move(content, i, source)) {
                seal.sendTo(pair[0]);
                try (SealedFileHandoff received = SealedFileHandoff.receiveFrom(pair[1], BYTES);
                        SealedBuffer buffer = received.share()) {
                    Bytes.sha256(buffer);
                }
            }
        }
    }

    /// The same of lending.
    ///
    /// @param folder for a socket
    static void slabs(Path folder) throws IOException {
        try (ArenaSource copies = ArenaSource.create(MemoryBudget.unlimited(), null);
                SharedSlabSource memory = SlabSending.memory();
                SlabLender lender = SlabLender.open(folder, memory, SlabQuota.standard());
                SlabBorrower borrower = SlabBorrower.connect(lender.path(), 0, copies, BYTES)) {
            SlabPeer peer = Objects.requireNonNull(lender.accept(PATIENCE), "peer");
            for (int i = 0; i < ROUNDS; i++) {
                try (SealedBuffer content =
                        BufferBuilder.create(memory).put(new byte[BYTES]).seal()) {
                    peer.send(content);
                }
                try (SealedBuffer received = borrower.receive()) {
                    Bytes.sha256(received);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
