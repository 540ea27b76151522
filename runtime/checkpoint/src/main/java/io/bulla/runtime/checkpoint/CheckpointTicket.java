// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A checkpoint that was asked for, and is answered later.
///
/// ```
/// REQUESTED --> PREPARING --> CUTTING --> WRITING --> PUBLISHED
///     |             |            |           |
///     +-------------+------------+-----------+--- a node fails, the deadline, abort ---> ABORTED
/// ```
public final class CheckpointTicket {

    /// How far it is.
    public enum State {
        /// It has no epoch yet.
        REQUESTED,
        /// Nodes wait for the end of broadcasts.
        PREPARING,
        /// Nodes take their cuts.
        CUTTING,
        /// Nodes go on, and write their files.
        WRITING,
        /// The checkpoint exists.
        PUBLISHED,
        /// There is none, and the one before it is as it was.
        ABORTED
    }

    private final CompletableFuture<CheckpointSummary> done = new CompletableFuture<>();
    private final Consumer<String> aborting;
    // all under the lock
    private State state = State.REQUESTED;
    private long epoch;
    private List<Integer> missing = List.of();

    CheckpointTicket(Consumer<String> aborting) {
        this.aborting = aborting;
    }

    /// How far it is now.
    ///
    /// @return a state that no other comes before
    public synchronized State state() {
        return state;
    }

    /// The checkpoint's number.
    ///
    /// @return at least 1; 0 if it is not known yet
    public synchronized long epoch() {
        return epoch;
    }

    /// The nodes that the present step waits for; once it is aborted, waited for.
    ///
    /// @return ranks in order
    public synchronized List<Integer> missing() {
        return List.copyOf(missing);
    }

    /// Its outcome.
    ///
    /// @return completes on a thread of the checkpoints when the checkpoint exists; fails with a
    ///     [CheckpointException] that says epoch, state, missing ranks and reason if it was aborted. If the store
    ///     fails while the manifest is written, or does not answer until the deadline,
    ///     [CheckpointArchive#manifest] knows whether the checkpoint exists
    public CompletionStage<CheckpointSummary> done() {
        return done.minimalCompletionStage();
    }

    /// Gives it up; nothing happens if it is over, or its manifest is being written.
    ///
    /// @param why a person reads it
    public void abort(String why) {
        aborting.accept(Objects.requireNonNull(why, "why"));
    }

    synchronized void at(State now, long number, List<Integer> waitsFor) {
        state = now;
        epoch = number;
        missing = waitsFor;
    }

    synchronized void answered(int rank) {
        List<Integer> left = new ArrayList<>(missing);
        left.remove((Integer) rank);
        missing = left;
    }

    /// Nothing happens if the store has answered too late.
    void published(CheckpointSummary summary) {
        if (done.isDone()) {
            return;
        }
        at(State.PUBLISHED, summary.epoch(), List.of());
        done.complete(summary);
    }

    void aborted(String why, @Nullable Throwable cause) {
        if (done.isDone()) {
            return;
        }
        CheckpointException failure = new CheckpointException(
                "checkpoint aborted: epoch=" + epoch() + " state=" + state() + " missing=" + missing() + " reason="
                        + why,
                cause);
        at(State.ABORTED, epoch(), missing());
        done.completeExceptionally(failure);
    }
}
