// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.MemorySource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// Writes images of nodes into a store, makes a checkpoint of them, and reads them back.
///
/// ```
/// archive.write(epoch, image)  of each rank, perhaps in its own process  ->  an entry each
/// archive.publish(manifest)    of all entries                            ->  the checkpoint exists
/// archive.read(manifest, rank, source, limits)                           ->  an image, for OobNodeBuilder.restore
/// archive.map(manifest, rank, limits)                                    ->  the same, where the file is
/// ```
///
/// Written are the bytes of the undelivered messages and of the states, at most 64 more for each message, 63 and the
/// name for each state, 128 for each peer and 112 for the file.
public final class CheckpointArchive {

    private static final int CHUNK = 1 << 16;

    private final CheckpointStore store;

    private CheckpointArchive(CheckpointStore store) {
        this.store = store;
    }

    /// An archive in a store.
    ///
    /// @param store where the files are
    /// @return an archive without anything to close
    public static CheckpointArchive of(CheckpointStore store) {
        return new CheckpointArchive(Objects.requireNonNull(store, "store"));
    }

    /// Writes a rank's file: gathered from where the messages are, forced to the medium, published. No checkpoint
    /// yet. Blocks as the medium does: not for a handler, nor for an event loop.
    ///
    /// @param epoch number of the checkpoint, [CheckpointStore#nextEpoch] for one
    /// @param image stays the caller's, and open until the return
    /// @return what belongs into the manifest
    /// @throws IOException if it cannot be written, or is not known to be kept; no manifest can name it then
    /// @throws IllegalArgumentException if the name of a state is over 255 bytes
    public RankEntry write(long epoch, RankImage image) throws IOException {
        return write(epoch, 0, image);
    }

    /// As [#write(long, RankImage)], of an attempt that has a number.
    ///
    /// @param epoch number of the checkpoint
    /// @param attempt as the manifest has it: random, so that files of two jobs are told apart; 0: none
    /// @param image stays the caller's, and open until the return
    /// @return what belongs into the manifest
    /// @throws IOException if it cannot be written, or is not known to be kept; no manifest can name it then
    /// @throws IllegalArgumentException if the name of a state is over 255 bytes
    public RankEntry write(long epoch, long attempt, RankImage image) throws IOException {
        try (CheckpointStore.RankFile file = store.create(epoch, image.cut().rank())) {
            RankEntry entry = RankWriter.write(file, epoch, attempt, image);
            file.publish();
            return entry;
        }
    }

    /// Makes a checkpoint of files that were written. From the return on it survives a crash.
    ///
    /// @param manifest with the entries of all ranks
    /// @return the checkpoint in figures
    /// @throws IOException if it cannot be kept, or exists already
    public CheckpointSummary publish(CheckpointManifest manifest) throws IOException {
        checkThere(manifest);
        store.publish(manifest.epoch(), manifest.toBytes());
        // another job that shares the folder, against what is written there, may have deleted them meanwhile
        checkThere(manifest);
        return manifest.summary();
    }

    /// That each file is there, with its size where the store says it.
    private void checkThere(CheckpointManifest manifest) throws IOException {
        for (RankEntry entry : manifest.ranks()) {
            try (ReadableByteChannel in = store.rank(manifest.epoch(), entry.rank())) {
                if (in instanceof SeekableByteChannel sized && sized.size() != entry.bytes()) {
                    throw CheckpointException.damaged(
                            manifest.epoch(), entry.file(), "bytes=" + sized.size() + " expected=" + entry.bytes());
                }
            }
        }
    }

    /// The newest checkpoint. One that was deleted meanwhile is passed over; one whose manifest is damaged is not,
    /// since a job that went on from an older one in silence would do again what it has done.
    ///
    /// @return nothing if there is none
    /// @throws CheckpointException if the manifest of the newest one is damaged; it names the older ones, which
    ///     [#manifest] reads
    /// @throws IOException if the store cannot be read
    public Optional<CheckpointManifest> latest() throws IOException {
        List<Long> epochs = store.epochs();
        for (int i = 0; i < epochs.size(); i++) {
            try {
                return Optional.of(manifest(epochs.get(i)));
            } catch (CheckpointException refused) {
                if (refused.getCause() == null) {
                    throw refused.withOlder(epochs.subList(i + 1, epochs.size()));
                }
                if (!(refused.getCause() instanceof NoSuchFileException)) {
                    throw refused;
                }
            }
        }
        return Optional.empty();
    }

    /// A checkpoint's manifest.
    ///
    /// @param epoch of the checkpoint
    /// @return what its files are
    /// @throws CheckpointException if there is none, or it is damaged
    /// @throws IOException if it cannot be read
    public CheckpointManifest manifest(long epoch) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (ReadableByteChannel in = store.manifest(epoch)) {
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
            while (in.read(chunk.clear()) >= 0) {
                all.write(chunk.array(), 0, chunk.position());
                if (all.size() > CheckpointManifest.MOST_BYTES) {
                    throw CheckpointException.damaged(
                            epoch, FileNames.MANIFEST, "too long: most=" + CheckpointManifest.MOST_BYTES);
                }
            }
        }
        return CheckpointManifest.parse(epoch, all.toByteArray());
    }

    /// Reads a rank's file into memory.
    ///
    /// @param manifest of the checkpoint
    /// @param rank of the node
    /// @param source where the memory comes from; its budget bounds all of it
    /// @param limits what the file may announce
    /// @return the image, whose handles are the caller's to close
    /// @throws CheckpointException if the file is missing, damaged or over a limit; no handle is left then
    /// @throws IOException if it cannot be read; no handle is left then
    /// @throws IllegalArgumentException if there is no such rank
    /// @throws io.bulla.buffer.MemoryLimitException if the budget refuses; no handle is left then
    public RankImage read(CheckpointManifest manifest, int rank, MemorySource source, RestoreLimits limits)
            throws IOException {
        RankEntry entry = entry(manifest, rank);
        RankReader.Bodies bodies = new RankReader.InMemory(source);
        RankImage image = null;
        boolean closed = false;
        try {
            try (ReadableByteChannel in = store.rank(manifest.epoch(), rank)) {
                image = new RankReader(manifest, entry, new RankChannel(in), bodies, limits).read();
            }
            closed = true;
            return image;
        } finally {
            // the file's close threw, so the caller never sees the image
            if (!closed && image != null) {
                image.close();
            }
        }
    }

    /// Reads a rank's file where it is: messages and states are parts of the mapped file, and only their checksums
    /// are computed. Takes no memory but what the kernel keeps of the file, which no budget counts.
    ///
    /// The file must stay as it is for as long as one of the handles is open, and of what was sent from it.
    /// Should another program cut it short, a read of what is gone is an [InternalError], which the JVM may throw
    /// some lines later, and a send fails; the JVM's own loops over such memory (a checksum, `mismatch`) end the
    /// process. So map only where no one else writes.
    ///
    /// @param manifest of the checkpoint
    /// @param rank of the node
    /// @param limits what the file may announce
    /// @return the image, whose handles are the caller's to close
    /// @throws CheckpointException if the file is missing, damaged or over a limit, or the store maps no files; no
    ///     handle is left then
    /// @throws IOException if it cannot be mapped; no handle is left then
    /// @throws IllegalArgumentException if there is no such rank, or only some threads may access what the store
    ///     has mapped
    public RankImage map(CheckpointManifest manifest, int rank, RestoreLimits limits) throws IOException {
        RankEntry entry = entry(manifest, rank);
        Optional<MemorySegment> memory = store.mapped(manifest.epoch(), rank);
        if (memory.isEmpty()) {
            throw new CheckpointException(
                    "cannot map checkpoint: epoch=" + manifest.epoch() + " file=" + entry.file()
                            + " reason=store maps no files: store=" + store,
                    null);
        }
        try (RankReader.Mapped file = new RankReader.Mapped(memory.get())) {
            return new RankReader(manifest, entry, new RankChannel(file), file, limits).read();
        }
    }

    private static RankEntry entry(CheckpointManifest manifest, int rank) {
        if (rank < 0 || rank >= manifest.nodes()) {
            throw new IllegalArgumentException("rank is not a node: rank=" + rank + " nodes=" + manifest.nodes());
        }
        return manifest.ranks().get(rank);
    }

    /// Holds all files of a checkpoint against the digests of its manifest. Takes a little memory, whatever they
    /// hold.
    ///
    /// @param manifest of the checkpoint
    /// @throws CheckpointException if a file is missing or not the one that was written
    /// @throws IOException if one cannot be read
    public void verify(CheckpointManifest manifest) throws IOException {
        for (RankEntry entry : manifest.ranks()) {
            try (ReadableByteChannel in = store.rank(manifest.epoch(), entry.rank())) {
                verify(manifest.epoch(), entry, in);
            }
        }
    }

    private static void verify(long epoch, RankEntry entry, ReadableByteChannel in) throws IOException {
        MessageDigest digest = Digests.sha256();
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
        long bytes = 0;
        while (bytes <= entry.bytes() && in.read(chunk.clear()) >= 0) {
            bytes += chunk.flip().remaining();
            digest.update(chunk);
        }
        if (bytes != entry.bytes()) {
            throw CheckpointException.damaged(epoch, entry.file(), "bytes=" + bytes + " expected=" + entry.bytes());
        }
        if (!Digests.text(digest).equals(entry.sha256())) {
            throw CheckpointException.damaged(epoch, entry.file(), "digest differs");
        }
    }
}
