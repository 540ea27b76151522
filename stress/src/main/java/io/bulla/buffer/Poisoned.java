// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/// One region of heap memory that is poisoned when it is given back: a source for one buffer.
final class Poisoned implements MemorySource, MemorySource.Region {

    private static final int VALUE = 0x5ea1ed;
    private static final int POISON = 0xdeadbeef;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment memory = MemorySegment.ofArray(new byte[8]);
    final AtomicInteger releases = new AtomicInteger();

    static SealedBuffer sealed(MemorySource source) {
        return BufferBuilder.create(source).putInt(VALUE).putInt(VALUE).seal();
    }

    /// 1 if each of the bytes is as it was sealed, else -1.
    static int read(SealedBuffer buffer) {
        for (long at = 0; at < buffer.byteSize(); at += 4) {
            if (buffer.iovec().get(INT, at) != VALUE) {
                return -1;
            }
        }
        return 1;
    }

    @Override
    public Region allocate(long byteSize) {
        return this;
    }

    @Override
    public MemorySegment segment() {
        return memory;
    }

    @Override
    public void release() {
        memory.set(INT, 0, POISON);
        memory.set(INT, 4, POISON);
        releases.incrementAndGet();
    }
}
