// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.internal.Live;
import io.bulla.refcount.internal.StillHeld;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The default memory source. It carves regions out of chunks; a chunk is one shared [java.lang.foreign.Arena].
///
/// ```java
/// import io.bulla.buffer.*;
///
/// void main() {
///     try (ArenaSource memory = ArenaSource.create(); // one for a program; bounded by a quarter of the machine
///             BufferBuilder builder = BufferBuilder.create(memory);
///             SealedBuffer message = builder.put((byte) 1, (byte) 2).seal()) {
///         IO.println(message.byteSize() + " bytes, chunks taken: " + memory.openChunks());
///     }
/// }
/// ```
///
/// ```text
/// 2 bytes, chunks taken: 1
/// ```
///
/// Memory is not reused while its chunk lives. So a stale reader sees the sealed bytes or an exception, never
/// another buffer's bytes. After the last region of a chunk is released, the source's own thread closes the chunk.
/// A region of 256 KiB or more has an arena of its own.
///
/// A chunk consists of blocks of 256 KiB (1 MiB for regions of more than 64 KiB). The JDK zeroes a block once;
/// carving, sealing and giving back touch no byte. Chunks adapt: the first has one block. After a chunk that was
/// used up within 100 ms the next one is twice as large, after a slower one half as large: at least one block, at
/// most [Builder#chunkBytes]. A shared arena has a price: one open handle of 64 bytes keeps its whole chunk, 256 KiB
/// in a program that allocates little, 4 MiB in one that allocates much.
///
/// It needs no JVM flag, no restricted method and no allocator hook.
public final class ArenaSource implements MemorySource, AutoCloseable {

    /// The most bytes of a chunk unless told otherwise.
    public static final long CHUNK = 4 << 20;

    private static final long SMALLEST_CHUNK = 64 << 10;
    private static final long BLOCK = 256 << 10;
    private static final long LARGE_BLOCK = 1 << 20;
    private static final long BUSY_NANOS = 100_000_000;
    // closing an arena takes a fraction of a millisecond
    private static final long PATIENCE_NANOS = 100_000_000;

    private final MemoryBudget budget;
    private final @Nullable LeaseTrace trace;
    private final Safety safety;
    private final long chunkBytes;
    private final ArenaCloser closer;
    // volatile: a block is seen whole; carving from one that is retired meanwhile fails cleanly
    private volatile @Nullable Block current;
    // under the lock
    private @Nullable Chunk chunk;
    private long chunkLimit;
    private long chunkStarted;
    // volatile: written under the lock; large regions are refused without it
    private volatile boolean closed;

    private ArenaSource(Builder options) {
        this.budget = options.budget == null ? MemoryBudget.ofProcess() : options.budget;
        this.trace = options.trace;
        this.safety = options.safety;
        this.chunkBytes = options.chunkBytes;
        this.closer = new ArenaCloser(
                budget::give,
                Math.min(Quarantine.BYTES, budget.limit() / 4),
                options.starter,
                ArenaCloser.IDLE_NANOS,
                new StillHeld("chunks", options.graceNanos, holders(trace), options.warning));
        Live.put("source", ArenaSource.class, this, ArenaSource::line);
    }

    /// A source with defaults: [MemoryBudget#ofProcess()], no listener for handles, [Safety#FAST].
    ///
    /// @return a source of its own
    public static ArenaSource create() {
        return builder().build();
    }

    /// A source with a limit.
    ///
    /// @param budget booked in whole chunks, before memory is taken
    /// @param trace told of every handle on this source's memory, or `null`
    /// @return a source of its own
    public static ArenaSource create(MemoryBudget budget, @Nullable LeaseTrace trace) {
        return builder().budget(budget).trace(trace).build();
    }

    /// A source to be described.
    ///
    /// @return defaults, to be changed
    public static Builder builder() {
        return new Builder();
    }

    /// How a source should be.
    public static final class Builder {

        private @Nullable MemoryBudget budget;
        private @Nullable LeaseTrace trace;
        private Safety safety = Safety.FAST;
        private long chunkBytes = CHUNK;
        private Consumer<Thread> starter = Thread::start;
        private long graceNanos = StillHeld.GRACE_NANOS;
        private Consumer<String> warning = StillHeld.warning("io.bulla.buffer");

        private Builder() {}

        /// Sets the limit.
        ///
        /// @param budget booked in whole chunks, before memory is taken
        /// @return this
        public Builder budget(MemoryBudget budget) {
            this.budget = Objects.requireNonNull(budget);
            return this;
        }

        /// For tests: a thread whose start may fail.
        Builder starter(Consumer<Thread> starter) {
            this.starter = starter;
            return this;
        }

        /// For tests: how long after its end a source may be held before it says so, and to whom.
        Builder grace(Duration time, Consumer<String> warning) {
            this.graceNanos = time.toNanos();
            this.warning = warning;
            return this;
        }

        /// Sets who is told of every handle on this source's memory.
        ///
        /// @param trace a listener, or `null` for none
        /// @return this
        public Builder trace(@Nullable LeaseTrace trace) {
            this.trace = trace;
            return this;
        }

        /// Sets the level of safety. [Safety#CHECKED] without a listener gets a full [LeaseLedger] that remembers
        /// stacks and closes.
        ///
        /// @param safety the level
        /// @return this
        public Builder safety(Safety safety) {
            this.safety = Objects.requireNonNull(safety);
            return this;
        }

        /// Sets the most bytes of a chunk: larger ones cost less per buffer, and a forgotten handle keeps more.
        ///
        /// @param bytes from 64 KiB to 1 GiB
        /// @return this
        /// @throws IllegalArgumentException if `bytes` is outside
        public Builder chunkBytes(long bytes) {
            if (bytes < SMALLEST_CHUNK || bytes > Block.LARGEST) {
                throw new IllegalArgumentException("size of a chunk: bytes=" + bytes + " smallest=" + SMALLEST_CHUNK
                        + " largest=" + Block.LARGEST);
            }
            this.chunkBytes = bytes;
            return this;
        }

        /// The source.
        ///
        /// @return a source of its own
        public ArenaSource build() {
            if (safety == Safety.CHECKED && trace == null) {
                trace = LeaseLedger.full().withStacks().withCloses();
            }
            return new ArenaSource(this);
        }
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return trace;
    }

    /// Takes a region.
    ///
    /// @throws IllegalArgumentException if `byteSize` is less than 1
    /// @throws MemoryLimitException if the budget forbids it; the message says who holds what, if the listener
    ///     knows
    /// @throws IllegalStateException if the source is closed
    /// @throws OutOfMemoryError if the machine has no more; the budget is as before
    @Override
    public Region allocate(long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("a region is at least one byte: byteSize=" + byteSize);
        }
        if (byteSize >= Math.min(BLOCK, chunkBytes / 4) || safety == Safety.CHECKED) {
            return alone(byteSize);
        }
        while (true) {
            Block block = current;
            Region region = block == null ? null : block.carve(byteSize);
            if (region != null) {
                return region;
            }
            closer.keepUp();
            replace(block, byteSize);
        }
    }

    /// Grows in place, if the region is the last one of its chunk and there is room.
    @Override
    public @Nullable Region grow(Region region, long byteSize) {
        return region instanceof Block.Carved carved && carved.resize(byteSize) ? region : null;
    }

    /// In place; what was not used is carved again if the region is the last one of its chunk.
    @Override
    public MemorySegment seal(Region region, long used) {
        if (region instanceof Block.Carved carved) {
            // first what needs heap: bytes that were given back may be another buffer's at once
            MemorySegment sealed = carved.sealed(used);
            carved.resize(used);
            return sealed;
        }
        return region.segment().asSlice(0, used).asReadOnly();
    }

    /// Chunks whose memory is not given back yet.
    ///
    /// @return 0 once every buffer and the source are closed and the source's thread came to rest
    public long openChunks() {
        return closer.open();
    }

    /// Regions that were found written to after they were given back. [Safety#CHECKED] only.
    ///
    /// @return 0 in a program that is in order
    public long lateWrites() {
        return closer.lateWrites();
    }

    /// Asks the source's thread to have the C library give its free memory back to the system. It does so by
    /// itself half a second after the last of several chunks was closed.
    public void trim() {
        closer.trim();
    }

    /// How often free memory was given back to the system.
    ///
    /// @return 0 where the JVM does not offer it
    public long trims() {
        return closer.trims();
    }

    /// Ends the source: no more regions, and its thread ends once every chunk is closed.
    ///
    /// Buffers that are still open, and sends in flight, keep their memory until their last handle is closed. If
    /// they do so for ten seconds, a line in the log says it once, at `WARNING`. Closing again does nothing.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            endBlock();
            if (chunk != null) {
                endChunk(chunk);
            }
            closer.end();
        }
    }

    /// Ends the source, as [#close()], and waits until all memory is given back.
    ///
    /// @param patience how long to wait
    /// @throws IllegalStateException if handles are still open then, naming who holds what if the listener knows;
    ///     their memory stays theirs until they are closed
    /// @throws InterruptedException if the thread is interrupted while it waits; the source is closed
    public void close(Duration patience) throws InterruptedException {
        close();
        if (!closer.awaitNone(TimeUnit.NANOSECONDS.convert(patience))) {
            throw new IllegalStateException("memory source closed with open handles: chunks=" + openChunks()
                    + " waited=" + patience.toMillis() + "ms held by ["
                    + holders(trace).get() + "]");
        }
    }

    private List<String> line() {
        return List.of("safety=" + safety + " closed=" + closed + " openChunks=" + openChunks() + " chunkBytes="
                + chunkBytes + " lateWrites=" + lateWrites() + " used=" + budget.used() + " limit=" + budget.limit()
                + " held by [" + holders(trace).get() + "]");
    }

    private static Supplier<String> holders(@Nullable LeaseTrace trace) {
        return () -> trace == null ? "not traced" : trace.summary();
    }

    @Override
    public String toString() {
        return "ArenaSource[" + safety + " openChunks=" + openChunks() + " chunkBytes=" + chunkBytes + " " + budget
                + "]";
    }

    /// Under the lock, so that a block's end costs one block, however many threads meet it.
    private synchronized void replace(@Nullable Block seen, long byteSize) {
        checkOpen(byteSize);
        if (current == seen) {
            long bytes = Math.min(chunkBytes, byteSize > BLOCK / 4 ? LARGE_BLOCK : BLOCK);
            book(bytes);
            Block next;
            try {
                next = chunk == null || chunk.byteSize() + bytes > chunkLimit ? newChunk(bytes) : chunk.addBlock(bytes);
            } catch (Throwable failure) {
                budget.give(bytes);
                throw failure;
            }
            endBlock();
            current = next;
            FlightEvents.allocated(bytes);
        }
    }

    /// The first block of another chunk, which takes the place of the one before; as before if that fails.
    private Block newChunk(long bytes) {
        long now = System.nanoTime();
        boolean busy = now - chunkStarted < BUSY_NANOS;
        Chunk next = openChunk();
        Block first;
        try {
            first = next.addBlock(bytes);
        } catch (Throwable failure) {
            next.leave();
            throw failure;
        }
        if (chunk != null) {
            endChunk(chunk);
        }
        // 0 before the first, either way
        chunkLimit = Math.clamp(busy ? chunkLimit * 2 : chunkLimit / 2, Math.min(BLOCK, chunkBytes), chunkBytes);
        chunkStarted = now;
        chunk = next;
        return first;
    }

    private void endChunk(Chunk last) {
        last.leave();
        chunk = null;
    }

    private void endBlock() {
        Block last = current;
        current = null;
        if (last != null) {
            last.retire();
        }
    }

    private Region alone(long bytes) {
        checkOpen(bytes);
        closer.keepUp();
        book(bytes);
        Chunk own;
        MemorySegment memory;
        try {
            own = openChunk();
            memory = memoryOf(own, bytes);
        } catch (Throwable failure) {
            budget.give(bytes);
            throw failure;
        }
        // from here on the chunk gives the bytes back
        try {
            FlightEvents.allocated(bytes);
            return new AloneRegion(own, closer, memory, safety == Safety.CHECKED);
        } catch (Throwable failure) {
            own.leave();
            throw failure;
        }
    }

    private static MemorySegment memoryOf(Chunk own, long bytes) {
        try {
            return own.allocate(bytes);
        } catch (Throwable failure) {
            own.leave();
            throw failure;
        }
    }

    private Chunk openChunk() {
        closer.opening();
        try {
            return new Chunk(closer);
        } catch (Throwable failure) {
            closer.gone();
            throw failure;
        }
    }

    /// Books bytes; if there are none, those that wait to be closed, and those of an unused chunk.
    private void book(long bytes) {
        long deadline = 0;
        while (!budget.tryTake(bytes)) {
            if (deadline == 0) {
                deadline = System.nanoTime() + PATIENCE_NANOS;
                endUnused();
            }
            if (!closer.awaitClosed(deadline)) {
                checkOpen(bytes);
                // one more try, and its error
                budget.take(bytes, trace == null ? "" : trace.summary());
                return;
            }
        }
    }

    private synchronized void endUnused() {
        // its holders are this source and the current block
        Block block = current;
        Chunk own = chunk;
        if (block != null && own != null && block.isUnused() && own.holders() == 2) {
            endBlock();
            endChunk(own);
        }
    }

    private void checkOpen(long requested) {
        if (closed) {
            throw new IllegalStateException(
                    "memory source already closed: requested=" + requested + " openChunks=" + openChunks());
        }
    }
}
