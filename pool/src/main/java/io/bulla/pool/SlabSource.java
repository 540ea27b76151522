// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab.Slot;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.internal.Live;
import io.bulla.refcount.internal.StillHeld;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A memory pool: it reuses memory, and never shows a reader another buffer's bytes.
///
/// ```java
/// import io.bulla.buffer.*;
/// import io.bulla.pool.*;
///
/// void main() {
///     try (SlabSource memory = SlabSource.create()) {
///         for (int i = 0; i < 1_000; i++) {
///             try (BufferBuilder builder = BufferBuilder.create(memory);
///                     SealedBuffer message = builder.putInt(i).seal()) {
///                 BufferReader.of(message).getInt();
///             }
///         }
///         IO.println("bytes taken from the machine: " + memory.bookedBytes());
///     }
/// }
/// ```
///
/// ```text
/// bytes taken from the machine: 2097152
/// ```
///
/// ```
///  region --release--> magazine of the thread --full--> depot --not needed--> home: the slab
///         <--allocate--                       <--empty--      <--empty--      empty: idle, then back to the system
/// ```
///
/// Slabs of [#SLAB] bytes are divided into regions of up to 1 MiB, in size classes of four steps per doubling. A
/// larger region has a slab of its own, a multiple of that size. A platform thread keeps free regions in a magazine,
/// up to [Builder#magazineBytes]; they go back when the thread ends or is idle for a while. Virtual threads share a
/// few magazines; a region of more than 32 KiB that one of them gives back is the next for a thread that has none of
/// that class at hand.
///
/// A read after the last close, through Bulla's own types, is an exception. Each region has a stamp
/// ([io.bulla.iovec.Generation]), which ends first; each read checks it after it has read. A raw view
/// ([io.bulla.iovec.IoVec#region], [io.bulla.iovec.IoVec#asByteBuffers()] and views of these) takes its memory out
/// of use until the slab is empty and was given back to the system. A view of [io.bulla.iovec.IoVec#lent()] does
/// not: it is for a send that holds its handle until it ends.
///
/// The budget counts whole slabs, and is booked before memory is taken. Slabs that stayed empty for [Builder#idle]
/// are given back, the oldest first. Slabs in JDK arenas then cost a handshake with every thread for each slab; no
/// other operation does.
///
/// The system property `io.bulla.pool.reuse=false` turns every such source into an [ArenaSource], as
/// [Builder#reuse] does for one.
public final class SlabSource implements MemorySource, AutoCloseable {

    /// Bytes of a slab, and its alignment.
    public static final long SLAB = SizeClasses.SLAB;

    /// The system property that switches reuse off.
    public static final String REUSE = "io.bulla.pool.reuse";

    private static final int COPIED_TO_GROW = 16 << 10;

    private final @Nullable LeaseTrace trace;
    private final MemoryBudget budget;
    final @Nullable ArenaSource plain;
    private final SlotCaches slots;
    private final Slabs slabs;

    private SlabSource(Builder options) {
        this.trace = options.trace;
        this.budget = options.budget == null ? MemoryBudget.ofProcess() : options.budget;
        long idleNanos = TimeUnit.NANOSECONDS.convert(options.idle);
        this.slots = new SlotCaches(
                options.supplier,
                budget,
                options.magazineBytes,
                idleNanos,
                step -> new Sweeper(step, Sweeper.pause(idleNanos)),
                new StillHeld("slabs", options.graceNanos, holders(trace), options.warning));
        this.slabs = slots.slabs();
        this.plain = options.reuse
                ? null
                : ArenaSource.builder().budget(budget).trace(trace).build();
        if (plain == null) {
            Live.put("pool", SlabSource.class, this, SlabSource::line);
        }
    }

    /// A source with defaults: [MemoryBudget#ofProcess()], arenas of the JDK's, no listener for handles.
    ///
    /// @return a source of its own
    public static SlabSource create() {
        return builder().build();
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
        private SlabSupplier supplier = SlabSupplier.arenas();
        private long magazineBytes = 1 << 20;
        private Duration idle = Duration.ofMillis(250);
        private long graceNanos = StillHeld.GRACE_NANOS;
        private Consumer<String> warning = StillHeld.warning("io.bulla.pool");
        private boolean reuse = !"false".equalsIgnoreCase(System.getProperty(REUSE));

        private Builder() {}

        /// Sets the limit.
        ///
        /// @param budget booked in whole slabs, before memory is taken
        /// @return this
        public Builder budget(MemoryBudget budget) {
            this.budget = Objects.requireNonNull(budget);
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

        /// For tests: how long after its end a source may be held before it says so, and to whom.
        Builder grace(Duration time, Consumer<String> warning) {
            this.graceNanos = time.toNanos();
            this.warning = warning;
            return this;
        }

        /// Sets where slabs come from.
        ///
        /// @param supplier for this source, or for several
        /// @return this
        public Builder supplier(SlabSupplier supplier) {
            this.supplier = Objects.requireNonNull(supplier);
            return this;
        }

        /// Sets how much free memory one thread keeps at hand.
        ///
        /// @param bytes at least 0; with 0 a thread still keeps up to one region of each size
        /// @return this
        /// @throws IllegalArgumentException if `bytes` is negative
        public Builder magazineBytes(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("size of a magazine is negative: bytes=" + bytes);
            }
            this.magazineBytes = bytes;
            return this;
        }

        /// Sets how long a slab stays empty before its memory is given back, by default 250 ms.
        ///
        /// @param time at least 1 ms
        /// @return this
        /// @throws IllegalArgumentException if it is less
        public Builder idle(Duration time) {
            if (time.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("idle time is too short: time=" + time + " least=PT0.001S");
            }
            this.idle = time;
            return this;
        }

        /// Switches reuse on or off. Without it the source is an [ArenaSource] with the same budget and listener.
        ///
        /// @param reuse false to hand out fresh memory only
        /// @return this
        public Builder reuse(boolean reuse) {
            this.reuse = reuse;
            return this;
        }

        /// The source.
        ///
        /// @return a source of its own
        public SlabSource build() {
            return new SlabSource(this);
        }
    }

    @Override
    public @Nullable LeaseTrace trace() {
        return trace;
    }

    /// Takes a region.
    ///
    /// @throws IllegalArgumentException if `byteSize` is less than 1
    /// @throws io.bulla.buffer.MemoryLimitException if the budget forbids another slab, and none is idle
    /// @throws IllegalStateException if the source is closed
    /// @throws OutOfMemoryError if the machine has no more; the budget is as before
    @Override
    public Region allocate(long byteSize) {
        if (byteSize < 1) {
            throw new IllegalArgumentException("a region is at least one byte: byteSize=" + byteSize);
        }
        if (plain != null) {
            return plain.allocate(byteSize);
        }
        PooledRegion region = new PooledRegion();
        region.on(slots.take(byteSize));
        // release: Generation 1, the end of the stamp before is above this line, what the new owner writes below
        VarHandle.releaseFence();
        return region;
    }

    /// In place up to the size of its class; a small region else moves to another one, so that a message stays in
    /// one piece.
    @Override
    public @Nullable Region grow(Region region, long byteSize) {
        if (!(region instanceof PooledRegion pooled)) {
            return plain == null ? null : plain.grow(region, byteSize);
        }
        Slot old = pooled.writable();
        if (old.byteSize() >= byteSize) {
            return pooled;
        }
        if (old.byteSize() > COPIED_TO_GROW || byteSize > SizeClasses.LARGEST) {
            return null;
        }
        Slot larger = slots.take(byteSize);
        checkStill(pooled, old, larger);
        // release: as in allocate
        VarHandle.releaseFence();
        MemorySegment.copy(old.memory, 0, larger.memory, 0, old.byteSize());
        pooled.on(larger);
        // no view of it was given out: it was not sealed
        slots.giveBack(old);
        return pooled;
    }

    /// Taking memory may have called back, and the region been sealed, given back or grown: then it keeps what it
    /// has.
    private void checkStill(PooledRegion region, Slot old, Slot larger) {
        boolean still = false;
        try {
            if (region.writable() != old) {
                throw new IllegalStateException(
                        "region grew already: byteSize=" + region.byteSize() + " wanted=" + larger.byteSize());
            }
            still = true;
        } finally {
            if (!still) {
                slots.giveBack(larger);
            }
        }
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        if (region instanceof PooledRegion pooled) {
            return pooled.seal(used);
        }
        return plain == null ? region.segment().asSlice(0, used).asReadOnly() : plain.seal(region, used);
    }

    /// Makes a buffer of a region that something else than a builder has filled, as a device does.
    ///
    /// @param region of this source, not given back; it is the buffer's now, or was given back if this fails
    ///     with another exception than an `IllegalArgumentException`
    /// @param used bytes from its start that count, 0 to the region's size
    /// @return the first handle
    /// @throws IllegalArgumentException if the region has no such bytes; the region stays the caller's
    /// @throws IllegalStateException if the region was given back
    public SealedBuffer sealFilled(Region region, long used) {
        if (used < 0 || used > region.byteSize()) {
            throw new IllegalArgumentException(
                    "more used than the region has: used=" + used + " byteSize=" + region.byteSize());
        }
        return PrefilledSource.seal(this, region, used);
    }

    /// Gives back what is free: what threads keep at hand, what lies between them, and every empty slab.
    public void trim() {
        if (plain == null) {
            slabs.trim();
        } else {
            plain.trim();
        }
    }

    /// Bytes of slabs that are taken from the machine now, empty ones included.
    ///
    /// @return what this source has booked in its budget, at least 0
    public long bookedBytes() {
        return slabs.booked();
    }

    /// Figures of the source: a snapshot.
    ///
    /// @return figures of the time since it was made, and of now
    public PoolFigures figures() {
        return slabs.figures();
    }

    /// Ends the source: no more regions. Buffers that are still open keep their memory until their last handle is
    /// closed. If they, or devices, do so for ten seconds, a line in the log says it once, at `WARNING`. Closing
    /// again does nothing.
    @Override
    public void close() {
        if (plain != null) {
            plain.close();
        }
        slabs.close();
    }

    /// Ends the source, as [#close()], and waits until all memory is given back.
    ///
    /// @param patience how long to wait
    /// @throws IllegalStateException if handles are still open then, naming who holds what if the listener knows;
    ///     their memory stays theirs until they are closed
    /// @throws InterruptedException if the thread is interrupted while it waits; the source is closed
    public void close(Duration patience) throws InterruptedException {
        close();
        if (plain != null) {
            plain.close(patience);
        } else if (!slabs.awaitNone(TimeUnit.NANOSECONDS.convert(patience))) {
            throw new IllegalStateException("memory source closed with open handles: slabs=" + slabs.open() + " waited="
                    + patience.toMillis() + "ms held by [" + holders(trace).get() + "]");
        }
    }

    private List<String> line() {
        PoolFigures now = figures();
        return List.of("closed=" + slabs.isClosed() + " slabs=" + now.slabs() + " booked=" + now.bookedBytes()
                + " live="
                + now.liveBytes() + " cached=" + now.cachedBytes() + " idle=" + now.idleBytes() + " quarantined="
                + now.quarantinedBytes() + " used=" + budget.used() + " limit=" + budget.limit() + " held by ["
                + holders(trace).get() + "]");
    }

    private static Supplier<String> holders(@Nullable LeaseTrace trace) {
        return () -> trace == null ? "not traced" : trace.summary();
    }

    @Override
    public String toString() {
        return plain == null ? "SlabSource[" + figures() + " " + budget + "]" : "SlabSource[reuse off, " + plain + "]";
    }
}
