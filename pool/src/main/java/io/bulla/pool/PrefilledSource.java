// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.buffer.internal.BuilderAccess;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Hands out one region that is filled already, to a builder that only seals it.
final class PrefilledSource implements MemorySource {

    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);

    private final SlabSource source;
    private @Nullable Region region;

    private PrefilledSource(SlabSource source, Region region) {
        this.source = source;
        this.region = region;
    }

    static SealedBuffer seal(SlabSource source, Region region, long used) {
        PrefilledSource prefilled = of(source, region);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(prefilled, Math.max(1, used))) {
            // it has the region already, and leaves its bytes as they are
            ACCESS.advance(builder, used);
            return builder.seal();
        } finally {
            prefilled.giveBackIfUnused();
        }
    }

    private static PrefilledSource of(SlabSource source, Region region) {
        try {
            return new PrefilledSource(source, region);
        } catch (OutOfMemoryError full) {
            region.release();
            throw full;
        }
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return source.trace();
    }

    @Override
    public Region allocate(long byteSize) {
        Region filled = region;
        if (filled == null) {
            throw new IllegalStateException("filled region handed out already: requested=" + byteSize);
        }
        region = null;
        return filled;
    }

    @Override
    public MemorySegment seal(Region filled, long used) {
        return source.seal(filled, used);
    }

    private void giveBackIfUnused() {
        Region left = region;
        if (left != null) {
            region = null;
            left.release();
        }
    }
}
