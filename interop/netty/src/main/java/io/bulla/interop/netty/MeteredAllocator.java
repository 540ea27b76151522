// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.atomic.LongAdder;

/// Hands out another allocator's buffers and counts them, so that a program can show what its channels allocate.
public final class MeteredAllocator extends AbstractByteBufAllocator {

    private final ByteBufAllocator allocator;
    private final LongAdder buffers = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    /// A meter in front of `allocator`.
    ///
    /// @param allocator does the work
    public MeteredAllocator(ByteBufAllocator allocator) {
        super(true);
        this.allocator = allocator;
    }

    /// Buffers handed out so far.
    ///
    /// @return a number that only grows
    public long buffers() {
        return buffers.sum();
    }

    /// Bytes of initial capacity handed out so far.
    ///
    /// @return a number that only grows
    public long bytes() {
        return bytes.sum();
    }

    @Override
    public boolean isDirectBufferPooled() {
        return allocator.isDirectBufferPooled();
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return counted(allocator.heapBuffer(initialCapacity, maxCapacity));
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return counted(allocator.directBuffer(initialCapacity, maxCapacity));
    }

    private ByteBuf counted(ByteBuf buffer) {
        try {
            // a counter that is contended takes heap
            buffers.increment();
            bytes.add(buffer.capacity());
            return buffer;
        } catch (Throwable noHeap) {
            buffer.release();
            throw noHeap;
        }
    }
}
