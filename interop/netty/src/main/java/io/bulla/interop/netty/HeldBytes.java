// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The bytes of a handle of its own, which its last release closes.
final class HeldBytes extends RegionsByteBuf {

    private final SealedBuffer handle;
    private final @Nullable NioViews views;

    /// @param handle this one's from now on
    /// @param views of the same buffer, if there are any
    HeldBytes(SealedBuffer handle, @Nullable NioViews views) {
        super(0, handle.iovec());
        this.handle = handle;
        this.views = views;
    }

    @Override
    ByteBuffer view(int number, MemorySegment region, long skip, long size) {
        ByteBuffer made = views == null ? null : views.of(number, region);
        if (made == null) {
            return super.view(number, region, skip, size);
        }
        return size == made.capacity() ? made.duplicate() : made.slice((int) skip, (int) size);
    }

    @Override
    void letGo() {
        handle.close();
    }
}
