// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.internal.BuilderAccess;
import java.lang.foreign.MemorySegment;

/// Lends a builder's regions to Bulla's other modules.
final class RegionAccess extends BuilderAccess<BufferBuilder> {

    RegionAccess() {
        super(BufferBuilder.class);
    }

    @Override
    public MemorySegment memory(BufferBuilder builder) {
        return builder.memory;
    }

    @Override
    public long used(BufferBuilder builder) {
        return builder.used;
    }

    @Override
    public long room(BufferBuilder builder) {
        return builder.capacity - builder.used;
    }

    @Override
    public void advance(BufferBuilder builder, long bytes) {
        builder.used += bytes;
    }

    @Override
    public long checkedSize(BufferBuilder builder) {
        return builder.checkedSize();
    }

    @Override
    public MemorySegment writtenFrom(BufferBuilder builder, long offset) {
        return builder.writtenFrom(offset);
    }
}
