package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.RefCount;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// One arena, carved from front to back. What was carved is not carved again while the arena lives.
///
/// ```
/// word:  62 retired | 40..61 carves tried | 0..39 offset of the next carve
/// open --retire--> retired      a carve that meets retired, or finds no room, gets nothing
/// ```
///
/// Holders: it starts with [#CREDIT], more than there can be carves. Each carve tried while it is open uses
/// one; one
/// that found no room gives it back; retiring gives back those never used. So a carve is one atomic add, and the
/// regions alone hold a retired chunk.
final class Chunk extends RefCount {

    static final int CREDIT = 1 << 21;
    static final long LARGEST = 1L << 30;
    static final int ALIGN = 8;

    private static final long CARVE = 1L << 40;
    private static final long RETIRED = 1L << 62;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Chunk.class, "word", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Arena arena;
    final MemorySegment memory;
    private final ArenaCloser closer;
    // through WORD only
    private long word;

    /// Memory is taken and zeroed here, by the JDK, once.
    Chunk(ArenaCloser closer, long bytes, int holders) {
        super(null, holders);
        this.closer = closer;
        this.arena = Arena.ofShared();
        try {
            this.memory = arena.allocate(bytes, ALIGN);
        } catch (Throwable failure) {
            arena.close();
            throw failure;
        }
    }

    /// A region, or null when there is no room or the chunk is retired. Room is then never again.
    Region carve(long bytes) {
        int size = aligned(bytes);
        // volatile (getAndAdd is one instruction): who gets which bytes needs the atomic step alone
        long before = (long) WORD.getAndAdd(this, CARVE + size);
        if (before >= RETIRED) {
            return null;
        }
        long offset = before & CARVE - 1;
        if (offset + size > memory.byteSize()) {
            release(1);
            return null;
        }
        return new Carved(this, (int) offset, size);
    }

    /// Ends the carving. Once.
    void retire() {
        // volatile: as in carve
        long before = (long) WORD.getAndAdd(this, RETIRED);
        release(CREDIT - (int) (before / CARVE));
    }

    @Override
    protected void free() {
        closer.close(this);
    }

    private void giveBack() {
        release();
    }

    private static int aligned(long bytes) {
        return (int) (bytes + ALIGN - 1) & -ALIGN;
    }

    /// A region. Its size changes in its builder's hands only.
    static final class Carved implements Region {

        private final Chunk chunk;
        private final int offset;
        private int size;

        private Carved(Chunk chunk, int offset, int size) {
            this.chunk = chunk;
            this.offset = offset;
            this.size = size;
        }

        /// Moves the end of the region, if nothing was carved behind it and there is room.
        boolean resize(long bytes) {
            long wanted = aligned(Math.min(bytes, LARGEST));
            // opaque: the guess for the compare-and-set below
            long before = (long) WORD.getOpaque(chunk);
            if (wanted < bytes
                    || before >= RETIRED
                    || (before & CARVE - 1) != offset + size
                    || offset + wanted > chunk.memory.byteSize()) {
                return false;
            }
            // plain: who gets which bytes needs the atomic step alone
            if (WORD.weakCompareAndSetPlain(chunk, before, before + wanted - size)) {
                size = (int) wanted;
                return true;
            }
            return false;
        }

        MemorySegment sealed(long used) {
            return chunk.memory.asSlice(offset, used).asReadOnly();
        }

        @Override
        public MemorySegment segment() {
            return chunk.memory.asSlice(offset, size);
        }

        @Override
        public long byteSize() {
            return size;
        }

        @Override
        public void release() {
            chunk.giveBack();
        }
    }
}
