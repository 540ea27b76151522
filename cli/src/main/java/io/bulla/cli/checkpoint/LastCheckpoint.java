// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.checkpoint;

import io.bulla.runtime.checkpoint.CheckpointArchive;
import io.bulla.runtime.checkpoint.CheckpointManifest;
import io.bulla.runtime.checkpoint.CheckpointSummary;
import io.bulla.runtime.checkpoint.CheckpointTicket;
import io.bulla.runtime.checkpoint.Checkpoints;
import io.bulla.runtime.checkpoint.FolderStore;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The checkpoint of the whole job that a node takes before it leaves. It asks for one as any node may; one that
/// another node asks for is as good if it holds what this node had done when it was told to leave.
///
/// ```
/// take --published, here or by another--> left with it
///   |
///   +--gives way to a lower rank--> take again, when that one's is over
///   +--a peer is gone, a file cannot be written, the time is over--> left without
/// ```
final class LastCheckpoint {

    /// What the node knows of itself.
    interface View {

        /// Whether a checkpoint holds what this node had done when it was told to leave. May block.
        ///
        /// @param isNew whether it was not there then
        boolean holds(CheckpointManifest checkpoint, boolean isNew) throws IOException;
    }

    private static final long LOOK_MILLIS = 50;
    // for the thread that keeps the deadline, on a busy machine
    private static final long PATIENCE_SECONDS = 5;
    private static final String GIVES_WAY = "gives way";

    private final Checkpoints checkpoints;
    private final CheckpointArchive archive;
    private final View view;
    // one that holds it, by whomever
    private final CompletableFuture<CheckpointSummary> found = new CompletableFuture<>();
    private final CompletableFuture<Void> looked = new CompletableFuture<>();
    // volatile: written by the thread that looks, which may block in the store
    private volatile String newest = "unknown";

    LastCheckpoint(Checkpoints checkpoints, FolderStore store, View view) {
        this.checkpoints = checkpoints;
        this.archive = CheckpointArchive.of(store);
        this.view = view;
    }

    /// Waits until there is one, or will be none.
    ///
    /// @param running one that this node has asked for before, or `null`
    /// @param most after which it is given up
    /// @throws IOException if there is none; the message says why, and which is the newest
    CheckpointSummary take(CheckpointTicket running, Duration most) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(most);
        Thread looks = Thread.ofPlatform().daemon().name("bulla-newest").start(this::look);
        try {
            String why = "no time is left";
            if (!isOver(looked, most.toMillis())) {
                throw without("the store does not answer", null);
            }
            if (running != null) {
                settle(running, end);
            }
            while (!found.isDone()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw without(why, null);
                }
                CheckpointTicket ticket = checkpoints.take(Duration.ofNanos(left));
                settle(ticket, end + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS));
                try {
                    if (ticket.done().toCompletableFuture().isDone()) {
                        return ticket.done().toCompletableFuture().join();
                    }
                } catch (CompletionException failed) {
                    why = failed.getCause().getMessage();
                    // what another one has published is looked for once more
                    if (!isFoundSoon() && !why.contains(GIVES_WAY)) {
                        throw without(why, failed.getCause());
                    }
                }
            }
            return found.join();
        } finally {
            looks.interrupt();
        }
    }

    private IOException without(String why, Throwable cause) {
        return new IOException("left without a checkpoint: newest=" + newest + ": " + why, cause);
    }

    /// Waits until it is over, or is not needed, or the time is over.
    private void settle(CheckpointTicket ticket, long end) throws InterruptedException {
        CompletableFuture<Object> either = CompletableFuture.anyOf(ticket.done().toCompletableFuture(), found);
        isOver(either, Math.max(0, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
    }

    private boolean isFoundSoon() throws InterruptedException {
        return isOver(found, 2 * LOOK_MILLIS);
    }

    private static boolean isOver(CompletableFuture<?> waited, long millis) throws InterruptedException {
        try {
            waited.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException notYet) {
            return false;
        } catch (ExecutionException failed) {
            return true;
        }
    }

    private void look() {
        long first = Long.MAX_VALUE;
        long refused = 0;
        try {
            while (true) {
                try {
                    CheckpointManifest latest = archive.latest().orElse(null);
                    newest = latest == null ? "none" : Long.toString(latest.epoch());
                    if (first == Long.MAX_VALUE) {
                        first = latest == null ? 0 : latest.epoch();
                    }
                    if (latest != null && latest.epoch() != refused) {
                        if (view.holds(latest, latest.epoch() > first)) {
                            found.complete(latest.summary());
                            return;
                        }
                        refused = latest.epoch();
                    }
                } catch (IOException | RuntimeException notRead) {
                    // it is damaged, or was deleted meanwhile: then it holds nothing
                    newest = "unknown";
                } finally {
                    looked.complete(null);
                }
                Thread.sleep(LOOK_MILLIS);
            }
        } catch (InterruptedException over) {
            // as it should be
        }
    }
}
