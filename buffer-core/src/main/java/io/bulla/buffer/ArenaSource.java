package io.bulla.buffer;

import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicLong;

/// The default source: carves regions out of chunks, each one shared [Arena].
///
/// Memory is never reused within a chunk, so a stale reader of the default source cannot see another buffer's
/// bytes. The chunk whose last region is released is closed by the source's own thread: closing a shared arena
/// costs tens of microseconds, which no reader's `close()` should pay. A region of a quarter chunk or more gets an
/// arena of its own.
///
/// No JVM flag, no restricted method, no allocator hook.
public final class ArenaSource implements MemorySource, AutoCloseable {

    private static final long CHUNK = 1 << 20;
    private static final long ALIGN = 8;

    private final MemoryBudget budget;
    private final LeaseTrace trace;
    private final LinkedTransferQueue<Chunk> finished = new LinkedTransferQueue<>();
    private final AtomicLong openChunks = new AtomicLong();
    private Thread closer;
    private Carved current;
    private boolean closed;

    private ArenaSource(MemoryBudget budget, LeaseTrace trace) {
        this.budget = budget;
        this.trace = trace;
    }

    /// A source without a limit.
    ///
    /// @return a source of its own
    public static ArenaSource create() {
        return create(MemoryBudget.unlimited(), null);
    }

    /// A source with a limit.
    ///
    /// @param budget booked in whole chunks, before memory is taken
    /// @param trace told of every handle on this source's memory, or `null`
    /// @return a source of its own
    public static ArenaSource create(MemoryBudget budget, LeaseTrace trace) {
        return new ArenaSource(budget, trace);
    }

    @Override
    public LeaseTrace trace() {
        return trace;
    }

    /// Takes a region.
    ///
    /// @throws IllegalArgumentException if `byteSize` is less than 1
    /// @throws IllegalStateException if the budget forbids it or the source is closed
    /// @throws OutOfMemoryError if the machine has no more; the budget is as before
    @Override
    public Region allocate(long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("a region is at least one byte: byteSize=" + byteSize);
        }
        if (byteSize >= CHUNK / 4) {
            return openChunk(byteSize);
        }
        synchronized (this) {
            long aligned = (byteSize + ALIGN - 1) & -ALIGN;
            if (current == null || current.chunk.room() < aligned) {
                Carved next = openChunk(CHUNK);
                retireCurrent();
                current = next;
            }
            return current.carve(aligned, byteSize);
        }
    }

    /// Chunks whose memory is not given back yet.
    ///
    /// @return 0 once every buffer and the source are closed and the source's thread came to rest
    public long openChunks() {
        return openChunks.get();
    }

    /// Ends the source: no more regions, and its thread ends once every chunk is closed.
    ///
    /// Buffers that are still open keep their memory until their last handle is closed. Closing again does nothing.
    @Override
    public synchronized void close() {
        closed = true;
        retireCurrent();
        if (closer != null && openChunks.get() == 0) {
            finished.add(Chunk.END);
        }
    }

    private Carved openChunk(long bytes) {
        budget.take(bytes);
        Arena arena = null;
        try {
            startCloser();
            arena = Arena.ofShared();
            Chunk chunk = new Chunk(this, arena, arena.allocate(bytes, ALIGN));
            openChunks.incrementAndGet();
            return new Carved(chunk, chunk.memory);
        } catch (Throwable failure) {
            budget.give(bytes);
            if (arena != null) {
                arena.close();
            }
            throw failure;
        }
    }

    private void retireCurrent() {
        if (current != null) {
            current.release();
            current = null;
        }
    }

    private synchronized void startCloser() {
        if (closed) {
            throw new IllegalStateException("memory source already closed");
        }
        if (closer == null) {
            closer = Thread.ofPlatform().daemon().name("bulla-arena-closer").start(this::closeFinished);
        }
    }

    private void closeFinished() {
        try {
            while (true) {
                Chunk chunk = finished.take();
                if (chunk == Chunk.END) {
                    return;
                }
                chunk.arena.close();
                budget.give(chunk.bytes);
                if (openChunks.decrementAndGet() == 0 && isClosed()) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /// One arena. Its holders are the regions carved from it and, while it is the current one, the source.
    private static final class Chunk extends RefCount {

        private static final Chunk END = new Chunk();

        private final ArenaSource source;
        private final Arena arena;
        private final MemorySegment memory;
        private final long bytes;
        private long carved;

        private Chunk() {
            super(null);
            source = null;
            arena = null;
            memory = null;
            bytes = 0;
        }

        Chunk(ArenaSource source, Arena arena, MemorySegment memory) {
            super(null);
            this.source = source;
            this.arena = arena;
            this.memory = memory;
            this.bytes = memory.byteSize();
        }

        long room() {
            return bytes - carved;
        }

        @Override
        protected void free() {
            source.finished.add(this);
        }
    }

    /// A region: one holder of its chunk.
    private static final class Carved extends Lease implements Region {

        private final Chunk chunk;
        private final MemorySegment segment;

        Carved(Chunk chunk, MemorySegment segment) {
            super(chunk);
            this.chunk = chunk;
            this.segment = segment;
        }

        Carved carve(long aligned, long byteSize) {
            Carved region = new Carved(chunk, chunk.memory.asSlice(chunk.carved, byteSize));
            retain(region);
            chunk.carved += aligned;
            return region;
        }

        @Override
        public MemorySegment segment() {
            return segment;
        }

        @Override
        public void release() {
            close();
        }
    }
}
