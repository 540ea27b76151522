// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.checkpoint;

import io.bulla.buffer.MemorySource;
import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.CheckpointOptions;
import io.bulla.runtime.checkpoint.CheckpointSummary;
import io.bulla.runtime.checkpoint.CheckpointTicket;
import io.bulla.runtime.checkpoint.Checkpoints;
import io.bulla.runtime.checkpoint.FolderStore;
import io.bulla.runtime.checkpoint.RestoreLimits;
import io.bulla.runtime.checkpoint.Restored;
import io.bulla.runtime.checkpoint.Undelivered;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/// One node's part in checkpoints: it goes on from one, and takes others, as it was told.
///
/// ```
/// open: reads its file --into(builder)--> the node starts --begin(node)--> checkpoints --leave--> the last one
/// ```
public final class NodeCheckpoints implements AutoCloseable {

    private static final String EXCHANGE = "exchange";
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final long LONGEST_STATE = 1 << 20;

    private final CheckpointFlags flags;
    private final Consumer<String> out;
    private final Exchange exchange;
    private final MemorySource source;
    private final List<Thread> threads = new ArrayList<>();
    // until the node has it
    private Restored restored;
    private Checkpoints checkpoints;
    private OobNode node;
    // volatile: rank 0's clock writes it, who leaves reads it when the clock has ended
    private volatile CheckpointTicket running;

    private NodeCheckpoints(
            CheckpointFlags flags, Exchange exchange, MemorySource source, Restored restored, Consumer<String> out) {
        this.flags = flags;
        this.exchange = exchange;
        this.source = source;
        this.restored = restored;
        this.out = out;
    }

    /// Of a node that takes part in none.
    public static NodeCheckpoints none() {
        return new NodeCheckpoints(new CheckpointFlags(), null, null, null, line -> {});
    }

    /// Reads what this node goes on from, if it does.
    ///
    /// @param limit of a message, in bytes
    /// @param out told in a line what happens
    /// @throws IOException if there is no whole checkpoint, it is another job's or damaged, or a folder cannot be
    ///     written
    public static NodeCheckpoints open(
            CheckpointFlags flags, int rank, int size, MemorySource source, long limit, Consumer<String> out)
            throws IOException {
        flags.checkFolder();
        Exchange exchange = flags.exchange == null ? null : new Exchange(rank, size, source);
        Restored restored = flags.from == null ? null : read(flags, rank, size, source, limit);
        boolean opened = false;
        try {
            if (restored != null) {
                load(restored, exchange);
            }
            NodeCheckpoints all = new NodeCheckpoints(flags, exchange, source, restored, out);
            opened = true;
            return all;
        } finally {
            if (!opened) {
                restored.close();
            }
        }
    }

    private static Restored read(CheckpointFlags flags, int rank, int size, MemorySource source, long limit)
            throws IOException {
        FolderStore store = FolderStore.of(flags.from);
        CheckpointArchive archive = CheckpointArchive.of(store);
        CheckpointManifest manifest = flags.epoch == null
                ? archive.latest().orElseThrow(() -> none(flags.from))
                : archive.manifest(flags.epoch);
        if (manifest.nodes() != size) {
            throw new IOException("checkpoint is of a job of another size: epoch=" + manifest.epoch() + " nodes="
                    + manifest.nodes() + " expected=" + size + " folder=" + flags.from);
        }
        RestoreLimits limits = new RestoreLimits(limit, LONGEST_STATE, RestoreLimits.DEFAULT.records());
        return Checkpoints.restore(store, manifest.epoch(), rank, source, limits);
    }

    private static IOException none(Path folder) {
        return new IOException("no whole checkpoint in " + folder);
    }

    private static void load(Restored restored, Exchange exchange) throws IOException {
        boolean saved = restored.state(EXCHANGE).isPresent();
        if (saved != (exchange != null)) {
            throw new IOException("checkpoint is of nodes " + (saved ? "with" : "without") + " --exchange: epoch="
                    + restored.epoch() + " rank=" + restored.rank());
        }
        if (saved) {
            restored.load(EXCHANGE, exchange::load);
        }
    }

    /// Makes the node that is to be started one that goes on.
    public OobNodeBuilder into(OobNodeBuilder builder) {
        return restored == null ? builder : restored.into(builder);
    }

    /// The node runs, and handles from now on what it goes on with.
    public void begin(OobNode node) {
        this.node = node;
        if (exchange != null) {
            exchange.begin(node);
        }
        if (restored != null) {
            out.accept("restored=" + restored.epoch() + " taken=" + restored.taken() + " undelivered="
                    + restored.undelivered().size() + " bytes="
                    + restored.undelivered().stream()
                            .mapToLong(Undelivered::bytes)
                            .sum()
                    + (exchange == null ? "" : " " + exchange.figures()));
            restored.close();
            restored = null;
        }
        if (flags.folder != null) {
            CheckpointOptions options = exchange == null
                    ? CheckpointOptions.DEFAULT
                    : CheckpointOptions.DEFAULT.save(EXCHANGE, exchange::save);
            checkpoints = Checkpoints.of(node, FolderStore.of(flags.folder), options);
        }
        if (exchange != null) {
            start("bulla-exchange", () -> exchange.run(node, flags.exchange));
        }
        if (exchange != null || checkpoints != null && node.rank() == 0) {
            start("bulla-checkpoints", () -> takeAndTell(node.rank()));
        }
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    private void start(String name, Work work) {
        threads.add(Thread.ofVirtual().name(name).start(() -> {
            try {
                work.run();
            } catch (InterruptedException over) {
                // as it should be
            }
        }));
    }

    private void takeAndTell(int rank) throws InterruptedException {
        while (true) {
            Thread.sleep(flags.period());
            if (checkpoints != null && rank == 0) {
                take();
            }
            if (exchange != null) {
                out.accept("exchange " + exchange.figures());
            }
        }
    }

    private void take() throws InterruptedException {
        long start = System.nanoTime();
        try {
            CheckpointTicket ticket = checkpoints.take(DEADLINE);
            running = ticket;
            out.accept(words(ticket.done().toCompletableFuture().get(), start));
        } catch (ExecutionException failed) {
            out.accept(failed.getCause().getMessage());
        }
    }

    private static String words(CheckpointSummary taken, long start) {
        return "checkpoint=" + taken.epoch() + " nodes=" + taken.nodes() + " messages=" + taken.messages() + " bytes="
                + taken.bytes() + " millis=" + (System.nanoTime() - start) / 1_000_000;
    }

    /// Takes the last checkpoint, if the node shall leave with one; it sends nothing new from here on.
    ///
    /// @param most how long that may take
    /// @throws IOException if there is none; the message says why
    public void leave(Duration most) throws IOException, InterruptedException {
        if (!flags.onExit) {
            return;
        }
        long start = System.nanoTime();
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            thread.join(most);
        }
        Duration left = most.minusNanos(System.nanoTime() - start);
        FolderStore store = FolderStore.of(flags.folder);
        LastCheckpoint last = new LastCheckpoint(checkpoints, store, view(store));
        out.accept("left with " + words(last.take(running, left), start));
    }

    private LastCheckpoint.View view(FolderStore store) {
        Exchange.Figures told = exchange == null ? null : exchange.figures();
        return new LastCheckpoint.View() {
            @Override
            public boolean holds(CheckpointManifest checkpoint, boolean isNew) throws IOException {
                if (told == null) {
                    return isNew;
                }
                try (Restored saved = Checkpoints.map(store, checkpoint.epoch(), node.rank(), RestoreLimits.DEFAULT)) {
                    Exchange then = new Exchange(node.rank(), node.size(), source);
                    saved.load(EXCHANGE, then::load);
                    return then.figures().holds(told);
                }
            }
        };
    }

    /// Before the node is closed; again is harmless.
    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
        if (checkpoints != null) {
            checkpoints.close();
        }
        if (restored != null) {
            restored.close();
            restored = null;
        }
    }
}
