// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.world;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;

/// What Netty allocates from, counted. Direct memory is slow to get, and nothing here writes to a socket.
public final class HeapAllocator extends AbstractByteBufAllocator {

    private long used;

    public HeapAllocator() {
        super(false);
    }

    /// Bytes that were not given back.
    public long used() {
        return used;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return new Counted(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return new Counted(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return false;
    }

    private final class Counted extends UnpooledHeapByteBuf {

        Counted(int initialCapacity, int maxCapacity) {
            super(HeapAllocator.this, initialCapacity, maxCapacity);
        }

        @Override
        protected byte[] allocateArray(int initialCapacity) {
            used += initialCapacity;
            return super.allocateArray(initialCapacity);
        }

        @Override
        protected void freeArray(byte[] array) {
            used -= array.length;
            super.freeArray(array);
        }
    }
}
