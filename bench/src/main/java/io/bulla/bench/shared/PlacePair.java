// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.aeron.Aeron;
import io.aeron.driver.MediaDriver;
import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.aeron.AeronBorrower;
import io.bulla.interop.aeron.AeronLender;
import io.bulla.pool.SlabSource;
import io.bulla.posix.lending.SharedSlabSource;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabPeer;
import io.bulla.posix.lending.SlabQuota;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// Lent messages from one JVM to another whose places go over Aeron IPC, as fast as it goes: [AeronPair] with the
/// bytes in a slab. The receiver polls, and yields if there is nothing.
///
/// Argument: the message's bytes. Prints nanoseconds for a message, the median of the windows.
public final class PlacePair {

    private static final String CHANNEL = "aeron:ipc?term-length=8m";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PLACES = 7;
    private static final int RETURNS = 8;
    private static final int PAUSE_NANOS = 50_000;
    private static final int RECEIVER = 1;

    private PlacePair() {}

    /// @throws Exception if the other process ends
    public static void main(String... args) throws Exception {
        Look look = Look.of(Integer.parseInt(args[0]), false);
        if (args.length > 1) {
            JavaProcess.endWithInput();
            receive(args[1], Path.of(args[2]), Board.open(Path.of(args[3])), look);
            return;
        }
        try (Folder folder = Folder.create();
                MediaDriver media = AeronPair.driver();
                Aeron aeron = AeronPair.client(media.aeronDirectoryName());
                SharedSlabSource memory =
                        SharedSlabSource.create(SlabSource.builder().budget(MemoryBudget.unlimited()));
                SlabLender slabs =
                        SlabLender.open(folder.path(), memory, new SlabQuota(Giving.LEASES, Long.MAX_VALUE))) {
            Board board = Board.open(folder.board());
            Process other = JavaProcess.start(
                    List.of(),
                    PlacePair.class,
                    args[0],
                    media.aeronDirectoryName(),
                    slabs.path().toString(),
                    folder.board().toString());
            try (SealedBuffer message = look.message(memory)) {
                SlabPeer peer = Objects.requireNonNull(slabs.accept(PATIENCE), "borrower");
                AeronLender lender = AeronLender.over(
                        peer, aeron.addExclusivePublication(CHANNEL, PLACES), aeron.addSubscription(CHANNEL, RETURNS));
                while (!lender.isOverAeron()) {
                    lender.poll();
                    Thread.sleep(1);
                }
                send(lender, message, board, other);
            } finally {
                other.destroyForcibly().waitFor();
            }
        }
    }

    private static void send(AeronLender lender, SealedBuffer message, Board board, Process other) throws Exception {
        double[] nanos = new double[SharedPair.WINDOWS];
        long sent = 0;
        for (int i = -1; i < nanos.length; i++) {
            long length = i < 0 ? SharedPair.WARM_UP_NANOS : SharedPair.WINDOW_NANOS;
            long before = sent;
            long start = System.nanoTime();
            do {
                while (!lender.lend(message)) {
                    Thread.yield();
                }
                sent++;
            } while (System.nanoTime() - start < length);
            board.await(RECEIVER, sent, PAUSE_NANOS, other);
            if (i >= 0) {
                nanos[i] = (double) (System.nanoTime() - start) / (sent - before);
            }
        }
        if (!lender.isOverAeron() || lender.byAeron() < sent / 2) {
            throw new IllegalStateException("it went over the socket: " + lender);
        }
        System.out.println(Medians.of(nanos));
    }

    private static void receive(String driver, Path slabs, Board board, Look look) throws Exception {
        long taken = 0;
        try (ArenaSource copies = ArenaSource.create(MemoryBudget.unlimited(), null);
                Aeron aeron = AeronPair.client(driver);
                AeronBorrower borrower = AeronBorrower.over(
                        SlabBorrower.connect(slabs, 0, copies, Long.MAX_VALUE),
                        aeron.addSubscription(CHANNEL, PLACES),
                        aeron.addExclusivePublication(CHANNEL, RETURNS))) {
            while (true) {
                SealedBuffer message = borrower.poll();
                if (message == null) {
                    Thread.yield();
                    continue;
                }
                try (message) {
                    look.at(message);
                    board.set(RECEIVER, ++taken);
                }
            }
        }
    }
}
