// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.Optional;

/// Keeps the files of checkpoints. It knows bytes alone; [CheckpointArchive] knows their content.
///
/// A file per rank is created, written and published; a manifest then makes a checkpoint of them, in one step that
/// happens or does not. Several processes may write files of one checkpoint at once, each its own ranks; one of them
/// publishes the manifest.
public interface CheckpointStore {

    /// A rank's file that is being written. Closed before it is published, it is gone.
    interface RankFile extends GatheringByteChannel {

        /// Ends the file.
        ///
        /// @throws IOException if it cannot be kept, or the rank has a file of this epoch; whether it is
        ///     there is not known then
        void publish() throws IOException;
    }

    /// Begins a rank's file. If one was left by an attempt without a manifest, it cannot be published: [#delete]
    /// removes what was left, and [#nextEpoch] is past it.
    ///
    /// @param epoch number of the checkpoint, at least 0
    /// @param rank at least 0
    /// @return a file to write, publish and close
    /// @throws IOException if it cannot be created, or the checkpoint exists already
    RankFile create(long epoch, int rank) throws IOException;

    /// Makes a checkpoint of the rank files that were published: it survives a crash from the return on.
    ///
    /// @param epoch of the files
    /// @param manifest what [#manifest] gives back
    /// @throws IOException if it cannot be kept, or there is one already; whether the checkpoint exists has to be
    ///     looked up then
    void publish(long epoch, ByteBuffer manifest) throws IOException;

    /// The checkpoints.
    ///
    /// @return epochs that have a manifest, the newest first
    /// @throws IOException if it cannot be looked up
    List<Long> epochs() throws IOException;

    /// An epoch for the next checkpoint.
    ///
    /// @return one more than any epoch of which anything is left, with a manifest or without; 1 at first
    /// @throws IOException if it cannot be looked up
    long nextEpoch() throws IOException;

    /// Reads a manifest.
    ///
    /// @param epoch of the checkpoint
    /// @return its bytes, to be closed
    /// @throws IOException if there is none, or it cannot be read
    ReadableByteChannel manifest(long epoch) throws IOException;

    /// Reads a rank's file.
    ///
    /// @param epoch of the checkpoint
    /// @param rank of the file
    /// @return its bytes, to be closed
    /// @throws IOException if there is none, or it cannot be read
    ReadableByteChannel rank(long epoch, int rank) throws IOException;

    /// Memory that shows a rank's file, for a restore that copies nothing ([CheckpointArchive#map]).
    ///
    /// @param epoch of the checkpoint
    /// @param rank of the file
    /// @return all of the file, readable by any thread until the garbage collector finds no use of it; nothing if
    ///     this store cannot do that, as is the case if it does not say otherwise
    /// @throws IOException if there is no such file, or it cannot be mapped
    default Optional<MemorySegment> mapped(long epoch, int rank) throws IOException {
        return Optional.empty();
    }

    /// Deletes a checkpoint, or what is left of an attempt: the manifest first, so that half of one is none.
    ///
    /// @param epoch nothing happens if there is nothing of it
    /// @throws IOException if something is left
    void delete(long epoch) throws IOException;
}
