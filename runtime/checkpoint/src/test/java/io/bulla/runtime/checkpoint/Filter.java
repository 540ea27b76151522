// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.List;
import java.util.Optional;

/// A store as another one, but for what a test says.
class Filter implements CheckpointStore {

    private final CheckpointStore store;

    Filter(CheckpointStore store) {
        this.store = store;
    }

    @Override
    public RankFile create(long epoch, int rank) throws IOException {
        return store.create(epoch, rank);
    }

    @Override
    public void publish(long epoch, ByteBuffer manifest) throws IOException {
        store.publish(epoch, manifest);
    }

    @Override
    public List<Long> epochs() throws IOException {
        return store.epochs();
    }

    @Override
    public long nextEpoch() throws IOException {
        return store.nextEpoch();
    }

    @Override
    public ReadableByteChannel manifest(long epoch) throws IOException {
        return store.manifest(epoch);
    }

    @Override
    public ReadableByteChannel rank(long epoch, int rank) throws IOException {
        return store.rank(epoch, rank);
    }

    @Override
    public Optional<MemorySegment> mapped(long epoch, int rank) throws IOException {
        return store.mapped(epoch, rank);
    }

    @Override
    public void delete(long epoch) throws IOException {
        store.delete(epoch);
    }
}
