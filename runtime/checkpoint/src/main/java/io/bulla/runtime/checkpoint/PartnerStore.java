// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Keeps every file twice, so that the loss of either place loses no checkpoint: on a disk of the node and at a
/// partner's, say.
///
/// A checkpoint is taken if both places have it, and exists if one does. What one place cannot read comes from the
/// other; a file that can be read and is damaged is not told apart here ([CheckpointArchive] does, and may be given
/// the other place alone).
public final class PartnerStore implements CheckpointStore {

    private final CheckpointStore first;
    private final CheckpointStore partner;

    private PartnerStore(CheckpointStore first, CheckpointStore partner) {
        this.first = first;
        this.partner = partner;
    }

    /// Two places as one.
    ///
    /// @param first asked first
    /// @param partner of which nothing is shared with the first
    /// @return a store without anything to close
    public static PartnerStore of(CheckpointStore first, CheckpointStore partner) {
        return new PartnerStore(Objects.requireNonNull(first, "first"), Objects.requireNonNull(partner, "partner"));
    }

    private interface Read<T> {
        T from(CheckpointStore store) throws IOException;
    }

    private <T> T either(Read<T> read) throws IOException {
        try {
            return read.from(first);
        } catch (IOException failure) {
            try {
                return read.from(partner);
            } catch (IOException there) {
                if (isMissing(failure) && !isMissing(there)) {
                    // it may be there: that place cannot be read
                    there.addSuppressed(failure);
                    throw there;
                }
                failure.addSuppressed(there);
                throw failure;
            }
        }
    }

    private static boolean isMissing(IOException failure) {
        return failure instanceof NoSuchFileException || failure.getCause() instanceof NoSuchFileException;
    }

    @Override
    public RankFile create(long epoch, int rank) throws IOException {
        RankFile here = first.create(epoch, rank);
        boolean both = false;
        try {
            RankFile file = new Both(here, partner.create(epoch, rank));
            both = true;
            return file;
        } finally {
            if (!both) {
                here.close();
            }
        }
    }

    /// To the partner before the first.
    @Override
    public void publish(long epoch, ByteBuffer manifest) throws IOException {
        partner.publish(epoch, manifest.duplicate());
        first.publish(epoch, manifest);
    }

    /// Those of both places; of a place that cannot be read, none, if the other one has some.
    @Override
    public List<Long> epochs() throws IOException {
        TreeSet<Long> all = new TreeSet<>();
        IOException here = add(all, first);
        IOException there = add(all, partner);
        IOException sick = here != null && (there == null || !isMissing(here) || isMissing(there)) ? here : there;
        boolean both = here != null && there != null;
        if (sick != null && (both || all.isEmpty() && !isMissing(sick))) {
            // what has none may be new, and what cannot be read may have some
            throw sick;
        }
        return List.copyOf(all.descendingSet());
    }

    private static @Nullable IOException add(Set<Long> all, CheckpointStore of) {
        try {
            all.addAll(of.epochs());
            return null;
        } catch (IOException failure) {
            return failure;
        }
    }

    @Override
    public long nextEpoch() throws IOException {
        return Math.max(first.nextEpoch(), partner.nextEpoch());
    }

    @Override
    public ReadableByteChannel manifest(long epoch) throws IOException {
        return either(store -> store.manifest(epoch));
    }

    @Override
    public ReadableByteChannel rank(long epoch, int rank) throws IOException {
        return either(store -> store.rank(epoch, rank));
    }

    @Override
    public Optional<MemorySegment> mapped(long epoch, int rank) throws IOException {
        return either(store -> store.mapped(epoch, rank));
    }

    /// In both places, whatever one of them says.
    @Override
    public void delete(long epoch) throws IOException {
        try {
            first.delete(epoch);
        } finally {
            partner.delete(epoch);
        }
    }

    @Override
    public String toString() {
        return first + " and " + partner;
    }

    /// The same bytes to two files.
    private static final class Both implements RankFile {

        private final RankFile here;
        private final RankFile there;

        Both(RankFile here, RankFile there) {
            this.here = here;
            this.there = there;
        }

        @Override
        public void publish() throws IOException {
            there.publish();
            here.publish();
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return (int) write(new ByteBuffer[] {bytes});
        }

        @Override
        public long write(ByteBuffer[] bytes) throws IOException {
            return write(bytes, 0, bytes.length);
        }

        /// What the one has taken, the other takes too.
        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) throws IOException {
            ByteBuffer[] copies = new ByteBuffer[length];
            for (int i = 0; i < length; i++) {
                copies[i] = bytes[offset + i].duplicate();
            }
            long written = here.write(bytes, offset, length);
            long left = written;
            for (ByteBuffer copy : copies) {
                int part = (int) Math.min(left, copy.remaining());
                copy.limit(copy.position() + part);
                left -= part;
            }
            for (long done = 0; done < written; ) {
                done += there.write(copies);
            }
            return written;
        }

        @Override
        public boolean isOpen() {
            return here.isOpen() && there.isOpen();
        }

        @Override
        public void close() throws IOException {
            try (here) {
                there.close();
            }
        }
    }
}
