// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemorySource;
import io.bulla.iovec.Generation;
import io.bulla.refcount.LeaseTrace;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A source each of whose calls is a fault point: those of the source, and those of its regions.
///
/// A call that takes memory fails before it took any, one that gives it back fails after it did, and a change of
/// a region (`grow`, `seal`) may fail before and after.
public final class FaultySource implements MemorySource {

    private final FaultPoints points;
    private final MemorySource source;
    private final @Nullable LeaseTrace trace;
    private final AtomicLong requested = new AtomicLong();
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong givenBack = new AtomicLong();
    private final AtomicLong misused = new AtomicLong();

    /// A source around another.
    ///
    /// @param points which call fails
    /// @param source does the work
    public FaultySource(FaultPoints points, MemorySource source) {
        this(points, source, source.trace());
    }

    /// A source around another, whose handles another listener is told of.
    ///
    /// @param points which call fails
    /// @param source does the work
    /// @param trace told of every handle, or `null`
    public FaultySource(FaultPoints points, MemorySource source, @Nullable LeaseTrace trace) {
        this.points = points;
        this.source = source;
        this.trace = trace;
    }

    /// Bytes that were asked for so far, granted or not.
    ///
    /// @return a number that only grows
    public long requestedBytes() {
        return requested.get();
    }

    /// Regions that were handed out and not given back yet.
    ///
    /// @return 0 once every buffer and builder is closed
    public long regionsTaken() {
        return taken.get() - givenBack.get();
    }

    /// Calls of a region that was given back before, among them every second release.
    ///
    /// @return 0 in a program that is in order
    public long misused() {
        return misused.get();
    }

    @Override
    public Region allocate(long byteSize) {
        requested.addAndGet(byteSize);
        points.reach("MemorySource.allocate");
        // before the memory is taken, for this object may be what the heap has no room for
        Faulty region = new Faulty();
        region.region = source.allocate(byteSize);
        taken.incrementAndGet();
        return region;
    }

    @Override
    public @Nullable Region grow(Region region, long byteSize) {
        points.reach("MemorySource.grow");
        Region old = ((Faulty) region).real();
        requested.addAndGet(byteSize);
        Faulty fresh = new Faulty();
        fresh.region = source.grow(old, byteSize);
        if (fresh.region != null && fresh.region != old) {
            // the source gave the old one back, and counts for itself
            return fresh;
        }
        points.reach("MemorySource.grow, done");
        return fresh.region == null ? null : region;
    }

    @Override
    public MemorySegment seal(Region region, long used) {
        points.reach("MemorySource.seal");
        MemorySegment sealed = source.seal(((Faulty) region).real(), used);
        points.reach("MemorySource.seal, done");
        return sealed;
    }

    @Override
    public @Nullable LeaseTrace trace() {
        points.reach("MemorySource.trace");
        return trace;
    }

    private final class Faulty implements Region {

        // set once, before anybody else sees this
        private @Nullable Region region;
        // volatile: the last closer may be any thread
        private final AtomicBoolean released = new AtomicBoolean();

        @Override
        public MemorySegment segment() {
            checkHeld();
            points.reach("Region.segment");
            return real().segment();
        }

        @Override
        public long byteSize() {
            points.reach("Region.byteSize");
            return real().byteSize();
        }

        @Override
        public @Nullable Generation generation() {
            points.reach("Region.generation");
            return real().generation();
        }

        @Override
        public void release() {
            if (!released.compareAndSet(false, true)) {
                misused.incrementAndGet();
                throw new IllegalStateException("region given back twice");
            }
            givenBack.incrementAndGet();
            real().release();
            points.reach("Region.release, done");
        }

        private Region real() {
            return Objects.requireNonNull(region, "no region yet");
        }

        private void checkHeld() {
            if (released.get()) {
                misused.incrementAndGet();
                throw new IllegalStateException("region used after it was given back");
            }
        }
    }
}
