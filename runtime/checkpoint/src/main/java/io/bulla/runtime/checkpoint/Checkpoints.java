// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.MemorySource;
import io.bulla.runtime.oob.NoticeReceiver;
import io.bulla.runtime.oob.OobNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Checkpoints of a job whose nodes go on meanwhile. Every node has one of these, over the same files; any of them
/// may ask for a checkpoint, one at a time.
///
/// ```
/// who asks           every node
/// PREPARE ---------> its broadcasts wait; PREPARED when none is on its way
/// CUT -------------> state and cut between two handlers: TAKEN. What it sends now waits
/// GO_ON -----------> what waits goes on; the file is written meanwhile: DURABLE
/// manifest; COMMIT
/// ```
///
/// Whatever fails before the manifest, a deadline among it, aborts the checkpoint: what waits goes on, and the
/// checkpoint before it is as it was. Each step is said again until it is answered, and answered again.
public final class Checkpoints implements AutoCloseable {

    private static final Duration LONGEST = Duration.ofDays(1);

    private final OobNode node;
    private final Agent agent;
    private final Coordinator coordinator;
    private final Participant participant;

    private Checkpoints(OobNode node, CheckpointStore store, CheckpointOptions options, Agent agent) {
        this.node = node;
        this.agent = agent;
        this.coordinator = new Coordinator(node.size(), store, options.kept(), agent, this::sayToNode);
        this.participant =
                new Participant(node, CheckpointArchive.of(store), options.savers(), agent, this::sayToCoordinator);
        node.receiveNotices(task -> agent.run(task), new NoticeReceiver() {
            @Override
            public void received(int peer, int topic, byte[] text) {
                heard(peer, topic, text);
            }

            @Override
            public void notReached(int peer, String why) {
                coordinator.notReached(peer, why);
            }
        });
    }

    /// Takes part in checkpoints from now on.
    ///
    /// @param node that goes on being the caller's; its notices are heard here from now on
    /// @param store the files of all nodes
    /// @param options what is saved and kept
    /// @return to be closed before the node
    public static Checkpoints of(OobNode node, CheckpointStore store, CheckpointOptions options) {
        return of(node, Objects.requireNonNull(store, "store"), options, new AgentThreads(node.rank()));
    }

    /// With threads, time and chance of a simulator.
    static Checkpoints of(OobNode node, CheckpointStore store, CheckpointOptions options, Agent agent) {
        return new Checkpoints(node, store, options, agent);
    }

    /// Reads a node's part of the newest checkpoint.
    ///
    /// @param store the files
    /// @param rank of the node
    /// @param source where the memory comes from; its budget bounds all of it
    /// @param limits what the files may announce
    /// @return to be closed; nothing if there is no checkpoint
    /// @throws IOException if it cannot be read, or is damaged
    public static Optional<Restored> restoreLatest(
            CheckpointStore store, int rank, MemorySource source, RestoreLimits limits) throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        Optional<CheckpointManifest> latest = archive.latest();
        return latest.isEmpty()
                ? Optional.empty()
                : Restored.read(archive, latest.get(), rank, source, limits).found();
    }

    /// Reads a node's part of a checkpoint.
    ///
    /// @param store the files
    /// @param epoch number of the checkpoint
    /// @param rank of the node
    /// @param source where the memory comes from; its budget bounds all of it
    /// @param limits what the files may announce
    /// @return to be closed
    /// @throws IOException if there is none, it cannot be read, or is damaged
    public static Restored restore(
            CheckpointStore store, long epoch, int rank, MemorySource source, RestoreLimits limits) throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        return Restored.read(archive, archive.manifest(epoch), rank, source, limits);
    }

    /// As [#restoreLatest], without a copy: messages and states are parts of the mapped file, which must stay as it
    /// is until they are closed and sent. See [CheckpointArchive#map] for what it costs if it does not.
    ///
    /// @param store the files, in a local folder
    /// @param rank of the node
    /// @param limits what the files may announce
    /// @return to be closed; nothing if there is no checkpoint
    /// @throws IOException if it cannot be mapped, or is damaged
    public static Optional<Restored> mapLatest(CheckpointStore store, int rank, RestoreLimits limits)
            throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        Optional<CheckpointManifest> latest = archive.latest();
        return latest.isEmpty()
                ? Optional.empty()
                : Restored.map(archive, latest.get(), rank, limits).found();
    }

    /// As [#restore], without a copy, as [#mapLatest] does.
    ///
    /// @param store the files, in a local folder
    /// @param epoch number of the checkpoint
    /// @param rank of the node
    /// @param limits what the files may announce
    /// @return to be closed
    /// @throws IOException if there is none, it cannot be mapped, or is damaged
    public static Restored map(CheckpointStore store, long epoch, int rank, RestoreLimits limits) throws IOException {
        CheckpointArchive archive = CheckpointArchive.of(store);
        return Restored.map(archive, archive.manifest(epoch), rank, limits);
    }

    /// Asks for a checkpoint of all nodes. From any thread, a handler among them; it does not wait.
    ///
    /// @param deadline after which it is aborted, if it is not there
    /// @return what comes of it
    /// @throws IllegalArgumentException if the deadline is not positive, or more than a day
    public CheckpointTicket take(Duration deadline) {
        if (deadline.isNegative() || deadline.isZero() || deadline.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("deadline of a checkpoint: given=" + deadline + " most=" + LONGEST);
        }
        CheckpointTicket[] self = new CheckpointTicket[1];
        CheckpointTicket ticket = new CheckpointTicket(why ->
                agent.run(() -> coordinator.abort(Objects.requireNonNull(self[0], "ticket"), why)));
        self[0] = ticket;
        if (!agent.run(() -> coordinator.take(ticket, TimeUnit.NANOSECONDS.convert(deadline)))) {
            ticket.aborted("checkpoints are closed: rank=" + node.rank(), null);
        }
        return ticket;
    }

    private void sayToNode(int rank, Notice notice) {
        say(rank, Notice.FROM_COORDINATOR, notice);
    }

    private void sayToCoordinator(int rank, Notice notice) {
        say(rank, Notice.FROM_NODE, notice);
    }

    private void say(int rank, int topic, Notice notice) {
        if (rank == node.rank()) {
            agent.run(() -> heard(rank, topic, notice));
        } else {
            node.notice(rank, topic, notice.toBytes());
        }
    }

    private void heard(int peer, int topic, byte[] text) {
        Notice.read(topic, text).ifPresent(notice -> heard(peer, topic, notice));
    }

    private void heard(int peer, int topic, Notice notice) {
        if (topic == Notice.FROM_COORDINATOR) {
            participant.heard(peer, notice);
        } else {
            coordinator.heard(peer, notice);
        }
    }

    /// Aborts a checkpoint that is being taken, here or with this node, and takes part in none any more. Waits a few
    /// seconds at most for a file that is being written.
    @Override
    public void close() {
        agent.run(() -> {
            coordinator.close("checkpoints are closed: rank=" + node.rank());
            participant.close();
        });
        agent.close();
    }
}
