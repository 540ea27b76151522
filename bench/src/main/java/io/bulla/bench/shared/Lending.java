// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.posix.PosixException;
import io.bulla.interop.posix.SharedSlabSource;
import io.bulla.interop.posix.SlabLender;
import io.bulla.interop.posix.SlabLenderFigures;
import io.bulla.interop.posix.SlabPeer;
import io.bulla.interop.posix.SlabQuota;
import io.bulla.pool.SlabSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// The program of a lender: it lends to all that come, until its input ends; then it waits until
/// nothing is lent.
public final class Lending {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long PAUSE_NANOS = 2_000_000;
    private static final int MOST_WORDS = 100_000;
    private static final SlabQuota QUOTA = new SlabQuota(64, 8 << 20);

    private final List<SlabPeer> peers = new ArrayList<>();
    private final Random random = new Random();
    private final MemoryBudget budget = new MemoryBudget(96 << 20);
    private final SharedSlabSource memory =
            SharedSlabSource.create(SlabSource.builder().budget(budget));

    private Lending() {}

    /// @param args the folder for its socket
    /// @throws Exception if the system refuses
    public static void main(String... args) throws Exception {
        new Lending().run(Path.of(args[0]));
    }

    private void run(Path folder) throws IOException, InterruptedException {
        SlabLender lender = SlabLender.open(folder, memory, QUOTA);
        System.out.println(lender.path());
        Thread ends = Thread.ofPlatform().daemon().start(Lending::awaitEnd);
        while (ends.isAlive()) {
            SlabPeer fresh = lender.accept(Duration.ofNanos(PAUSE_NANOS));
            if (fresh != null) {
                peers.add(fresh);
                lend(fresh);
            }
            peers.removeIf(peer -> peer.gone() != null);
            if (!peers.isEmpty()) {
                lend(peers.get(random.nextInt(peers.size())));
            }
        }
        lender.close(PATIENCE);
        memory.close(PATIENCE);
        SlabLenderFigures figures = lender.figures();
        System.out.println("leases=" + figures.leases() + " cut-off=" + figures.cutOff() + " reclaimed="
                + figures.reclaimed() + " failures=" + figures.failures() + " booked=" + budget.used()
                + " memory-files=" + memoryFiles());
    }

    private void lend(SlabPeer peer) {
        try (SealedBuffer message = Content.of(memory, random.nextLong(), random.nextInt(MOST_WORDS))) {
            for (SlabPeer each : random.nextInt(4) == 0 ? peers : List.of(peer)) {
                lend(each, message);
            }
        } catch (MemoryLimitException full) {
            // those who have it give it back
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static void lend(SlabPeer peer, SealedBuffer message) {
        try {
            peer.lend(message);
        } catch (PosixException gone) {
            // killed
        }
    }

    static void awaitEnd() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException ended) {
            // as it should
        }
    }

    private static long memoryFiles() throws IOException {
        long mapped;
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            mapped = lines.filter(line -> line.contains("/memfd:bulla")).count();
        }
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return mapped + files.filter(Lending::isMemoryFile).count();
        }
    }

    private static boolean isMemoryFile(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("/memfd:bulla");
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}
