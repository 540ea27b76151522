// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// One node's part of a checkpoint, read and checked: state to be loaded, then a node to go on with.
public final class Restored implements AutoCloseable {

    private final CheckpointManifest manifest;
    private final RankImage image;

    private Restored(CheckpointManifest manifest, RankImage image) {
        this.manifest = manifest;
        this.image = image;
    }

    static Restored read(
            CheckpointArchive archive, CheckpointManifest manifest, int rank, MemorySource source, RestoreLimits limits)
            throws IOException {
        return of(manifest, archive.read(manifest, rank, source, limits));
    }

    static Restored map(CheckpointArchive archive, CheckpointManifest manifest, int rank, RestoreLimits limits)
            throws IOException {
        return of(manifest, archive.map(manifest, rank, limits));
    }

    private static Restored of(CheckpointManifest manifest, RankImage image) {
        try {
            return new Restored(manifest, image);
        } catch (OutOfMemoryError full) {
            throw closed(image, full);
        }
    }

    /// What is given to a caller who may get nothing.
    Optional<Restored> found() {
        try {
            return Optional.of(this);
        } catch (OutOfMemoryError full) {
            throw closed(this, full);
        }
    }

    private static OutOfMemoryError closed(AutoCloseable kept, OutOfMemoryError full) {
        Failures.close(kept, full);
        return full;
    }

    /// Number of the checkpoint.
    ///
    /// @return at least 0
    public long epoch() {
        return manifest.epoch();
    }

    /// When the checkpoint was made.
    ///
    /// @return by the clock of the machine that wrote the manifest
    public Instant taken() {
        return manifest.taken();
    }

    /// Rank of the node.
    ///
    /// @return 0 to the number of nodes - 1
    public int rank() {
        return image.cut().rank();
    }

    /// Number of nodes of the job, which has to be that of the new one.
    ///
    /// @return at least 1
    public int nodes() {
        return manifest.nodes();
    }

    /// What the node had undelivered.
    ///
    /// @return by peer and lane, in order; then what had arrived; then broadcasts
    public List<Undelivered> undelivered() {
        List<Undelivered> all = new ArrayList<>();
        for (NodeCut.OfPeer peer : image.cut().peers()) {
            for (NodeCut.OfLane lane : peer.lanes()) {
                for (NodeCut.Outgoing message : lane.outgoing()) {
                    if (message.bytes().isPresent()) {
                        all.add(new Undelivered(
                                Undelivered.Kind.OUTGOING,
                                peer.peer(),
                                message.tag(),
                                numberOf(message.number()),
                                message.length()));
                    }
                }
            }
        }
        image.cut().arrived().forEach(message -> all.add(of(Undelivered.Kind.ARRIVED, message)));
        image.cut().broadcasts().forEach(message -> all.add(of(Undelivered.Kind.BROADCAST, message)));
        return all;
    }

    private static Undelivered of(Undelivered.Kind kind, Message message) {
        return new Undelivered(
                kind,
                message.origin(),
                message.tag(),
                NodeCut.UNNUMBERED,
                message.buffer().byteSize());
    }

    /// Without the mark of sessions that were restored before.
    private static long numberOf(long number) {
        return number == NodeCut.UNNUMBERED ? number : number & ~(1L << 62);
    }

    /// A part of the program's state.
    ///
    /// @param name of its [StateSaver]
    /// @return closed with this; nothing if none was saved
    public Optional<SealedBuffer> state(String name) {
        return Optional.ofNullable(image.states().get(name));
    }

    /// Loads a part of the program's state.
    ///
    /// @param name of its [StateSaver]
    /// @param loader called at once
    /// @return this
    /// @throws CheckpointException if there is no such state, or it cannot be loaded; the message has the name
    public Restored load(String name, StateLoader loader) throws CheckpointException {
        SealedBuffer state = image.states().get(name);
        if (state == null) {
            throw new CheckpointException(
                    "checkpoint has no such state: epoch=" + epoch() + " rank=" + rank() + " name=" + name, null);
        }
        try {
            loader.load(state);
        } catch (Exception failure) {
            throw new CheckpointException(
                    "state cannot be loaded: epoch=" + epoch() + " rank=" + rank() + " name=" + name + " reason="
                            + failure.getMessage(),
                    failure);
        }
        return this;
    }

    /// Which checkpoint it is, as nodes say it to each other.
    ///
    /// @return the same for all ranks
    public CutName name() {
        return new CutName(manifest.epoch(), manifest.attempt());
    }

    /// Goes on: starts a node whose sessions, numbers and messages are those of the checkpoint. No handler has run
    /// before. Frames of the former processes are refused; so are nodes of another checkpoint, and those that have
    /// gone on without this one.
    ///
    /// @param builder of the same rank and number of nodes, with whatever else a node needs
    /// @return a running node, which does not need this any more
    /// @throws IOException if it cannot listen; it may be tried again
    /// @throws IllegalArgumentException if rank or number of nodes are others
    public OobNode resume(OobNodeBuilder builder) throws IOException {
        return into(builder).start();
    }

    /// As [#resume], for a node that is started by other means, such as [BoundNode][io.bulla.runtime.oob.BoundNode]
    /// or the launcher's exchange of addresses.
    ///
    /// @param builder of the same rank and number of nodes
    /// @return the builder, to be started before this is closed
    public OobNodeBuilder into(OobNodeBuilder builder) {
        return builder.restore(image.cut(), name());
    }

    /// Closes the handles that it has; a node that goes on has its own.
    @Override
    public void close() {
        image.close();
    }
}
