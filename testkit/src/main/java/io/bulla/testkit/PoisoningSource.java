// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemorySource;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Overwrites every region with [#POISON] when it is given back, and notices a region given back twice. Regions
/// begin at odd addresses.
public final class PoisoningSource implements MemorySource {

    /// The poison that a stale read finds.
    public static final byte POISON = (byte) 0xdb;

    private final @Nullable LeaseTrace trace;

    /// A source of memory that the garbage collector frees, long after it is poisoned.
    ///
    /// @param trace told of every handle, or `null`
    public PoisoningSource(@Nullable LeaseTrace trace) {
        this.trace = trace;
    }

    @Override
    public Region allocate(long byteSize) {
        return new Poisoned(Arena.ofAuto().allocate(byteSize + 1, 8).asSlice(1));
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return trace;
    }

    private static final class Poisoned implements Region {

        private final MemorySegment memory;
        private boolean released;

        Poisoned(MemorySegment memory) {
            this.memory = memory;
        }

        @Override
        public MemorySegment segment() {
            return memory;
        }

        @Override
        public synchronized void release() {
            if (released) {
                throw new IllegalStateException("region given back twice: byteSize=" + memory.byteSize());
            }
            released = true;
            memory.fill(POISON);
        }
    }
}
