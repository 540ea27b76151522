// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.refcount.RefCount;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One shared arena. Its holders are its blocks and, while blocks may be added, its source; the last to leave
/// hands it to the source's own thread.
///
/// Closing an arena costs a handshake with every thread, whatever its size, and zeroing memory is cheapest when
/// it is used soon after. So an arena is large, and taken in blocks as they are needed.
final class Chunk extends RefCount {

    /// Chunks that wait for something; each is on one at a time.
    static final class Stack extends IntrusiveStack<Chunk> {
        @Override
        protected @Nullable Chunk next(Chunk chunk) {
            return chunk.next;
        }

        @Override
        protected void link(Chunk chunk, @Nullable Chunk next) {
            chunk.next = next;
        }
    }

    private static final int ALIGN = 8;

    private final ArenaCloser closer;
    private final Arena arena = Arena.ofShared();
    // under the source's lock; the closer's thread comes after the last holder
    private long byteSize;
    // of those that wait to be closed
    @Nullable
    Chunk next;

    /// An arena without memory, whose one holder is the caller.
    Chunk(ArenaCloser closer) {
        super(null);
        this.closer = closer;
    }

    /// A block of zeroed memory, one more holder. The caller holds the chunk; if this fails, the chunk is as before.
    Block addBlock(long bytes) {
        Block block = new Block(this);
        block.on(allocate(bytes));
        if (!retain(1)) {
            throw new IllegalStateException("block for a chunk that is gone: byteSize=" + byteSize);
        }
        return block;
    }

    /// Zeroed memory that lives as long as the chunk, which gives back its bytes when it is closed: if this returns,
    /// they are the chunk's, not the caller's.
    MemorySegment allocate(long bytes) {
        MemorySegment memory = arena.allocate(bytes, ALIGN);
        byteSize += bytes;
        return memory;
    }

    /// One holder less.
    void leave() {
        release();
    }

    long byteSize() {
        return byteSize;
    }

    /// Closes the arena, which takes tens of microseconds.
    ///
    /// @return false while a system call of the JDK's uses its memory
    boolean tryClose() {
        try {
            arena.close();
            return true;
        } catch (Throwable failure) {
            if (!arena.scope().isAlive()) {
                // its end is what counts
                return true;
            }
            if (failure instanceof IllegalStateException) {
                return false;
            }
            throw failure;
        }
    }

    @Override
    protected void free() {
        closer.close(this);
    }
}
