// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A piece of a [Chunk], carved from front to back. What was carved is not carved again while the chunk lives.
///
/// ```
/// word:  62 retired | 40..61 carves tried | 0..39 offset of the next carve
/// open --retire--> retired      a carve that meets retired, or finds no room, gets nothing
/// ```
///
/// Holders: it starts with [#CREDIT], more than there can be carves. Each carve tried while there seems to be
/// room uses one; one that found no room gives it back; retiring gives back those never used. So a carve is one
/// atomic add, and the regions alone hold a retired block, which in turn holds its chunk.
final class Block extends RefCount {

    static final int LARGEST = 1 << 30;
    private static final int ALIGN = 8;
    private static final int CREDIT = 1 << 21;

    private static final long CARVE = 1L << 40;
    private static final long RETIRED = 1L << 62;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Block.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Chunk chunk;
    // set once, before the block is shown
    private MemorySegment memory = MemorySegment.NULL;
    // through WORD only
    private long word;

    /// A block without memory, that is going to be one holder of `chunk`.
    Block(Chunk chunk) {
        super(null, CREDIT);
        this.chunk = chunk;
    }

    /// Gives the block its memory, before anybody else can see it.
    void on(MemorySegment zeroed) {
        memory = zeroed;
    }

    /// A region, or null when there is no room or the block is retired. A smaller one may still be found.
    @Nullable
    Region carve(long bytes) {
        int size = aligned(bytes);
        // opaque: a guess; a carve that is refused for want of memory is tried again and again, at no cost in credit
        if (!hasRoom((long) WORD.getOpaque(this), size)) {
            return null;
        }
        // first: a carve without a region would keep the block for ever
        Carved carved = new Carved(this, size);
        // volatile (getAndAdd is one instruction): who gets which bytes needs the atomic step alone
        long before = (long) WORD.getAndAdd(this, CARVE + size);
        if (before >= RETIRED) {
            return null;
        }
        if (!hasRoom(before, size)) {
            release(1);
            return null;
        }
        carved.offset = (int) (before & CARVE - 1);
        return carved;
    }

    private boolean hasRoom(long word, long size) {
        return word < RETIRED && (word & CARVE - 1) + size <= memory.byteSize();
    }

    /// Ends the carving. Once.
    void retire() {
        // volatile: as in carve
        long before = (long) WORD.getAndAdd(this, RETIRED);
        release(CREDIT - (int) (before / CARVE));
    }

    /// Tells whether every region carved so far was given back: a snapshot.
    boolean isUnused() {
        // opaque: a snapshot
        return holders() == CREDIT - (long) WORD.getOpaque(this) / CARVE;
    }

    @Override
    protected void free() {
        chunk.leave();
    }

    private void giveBack() {
        release();
    }

    private static int aligned(long bytes) {
        return (int) (bytes + ALIGN - 1) & -ALIGN;
    }

    /// A region. Its size changes in its builder's hands only.
    static final class Carved implements Region {

        private static final int RELEASED = -1;

        private final Block block;
        // in the block, or RELEASED
        private int offset;
        private int size;

        private Carved(Block block, int size) {
            this.block = block;
            this.size = size;
        }

        /// Moves the end of the region, if nothing was carved behind it and there is room. Never to its begin: each
        /// region has used up one of the block's credits, of which there are no more than smallest regions.
        boolean resize(long bytes) {
            long wanted = Math.max(ALIGN, aligned(Math.min(bytes, LARGEST)));
            checkHeld();
            if (wanted == size) {
                return true;
            }
            // opaque: the guess for the compare-and-set below
            long before = (long) WORD.getOpaque(block);
            if (wanted < bytes
                    || before >= RETIRED
                    || (before & CARVE - 1) != offset + size
                    || offset + wanted > block.memory.byteSize()) {
                return false;
            }
            // release: what was written to the bytes given back is before what their next owner writes
            if (WORD.weakCompareAndSetRelease(block, before, before + wanted - size)) {
                size = (int) wanted;
                return true;
            }
            return false;
        }

        MemorySegment sealed(long used) {
            checkHeld();
            return block.memory.asSlice(offset, used).asReadOnly();
        }

        @Override
        public MemorySegment segment() {
            checkHeld();
            return block.memory.asSlice(offset, size);
        }

        @Override
        public long byteSize() {
            return size;
        }

        /// Again is an error: it would take another region's place in the count, and the memory from beneath it.
        @Override
        public void release() {
            checkHeld();
            // plain: finds a mistake, not a race
            offset = RELEASED;
            block.giveBack();
        }

        private void checkHeld() {
            if (offset == RELEASED) {
                throw new IllegalStateException("region already given back: byteSize=" + size);
            }
        }
    }
}
