// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.refcount.internal.Failures;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A region of a builder that is written up to where the next one starts, linked to those before it. A record would
/// do, but the JVM refused to redefine that one for `./check mutants-generated`.
final class Part {

    private final Region region;
    private final MemorySegment memory;
    private final long start;
    private final @Nullable Part previous;

    /// @param region whose memory it is
    /// @param memory as the region said when it was taken
    /// @param start bytes of the builder before it
    /// @param previous null for the first one
    Part(Region region, MemorySegment memory, long start, @Nullable Part previous) {
        this.region = region;
        this.memory = memory;
        this.start = start;
        this.previous = previous;
    }

    Region region() {
        return region;
    }

    MemorySegment memory() {
        return memory;
    }

    long start() {
        return start;
    }

    @Nullable
    Part previous() {
        return previous;
    }

    /// Whether a region is one of these.
    static boolean holds(@Nullable Part last, Region region) {
        for (Part part = last; part != null; part = part.previous) {
            if (part.region == region) {
                return true;
            }
        }
        return false;
    }

    /// Whether memory overlaps with that of one of these.
    static boolean overlaps(@Nullable Part last, MemorySegment memory) {
        for (Part part = last; part != null; part = part.previous) {
            if (part.memory.asOverlappingSlice(memory).isPresent()) {
                return true;
            }
        }
        return false;
    }

    static int count(@Nullable Part last) {
        int count = 0;
        for (Part part = last; part != null; part = part.previous) {
            count++;
        }
        return count;
    }

    /// Gives all regions back, the last one first. Allocates nothing.
    static @Nullable Throwable release(@Nullable Part last, @Nullable Throwable before) {
        Throwable failure = before;
        for (Part part = last; part != null; part = part.previous) {
            failure = release(part.region, failure);
        }
        return failure;
    }

    /// Gives a region back. Allocates nothing.
    static @Nullable Throwable release(Region region, @Nullable Throwable before) {
        try {
            region.release();
            return before;
        } catch (Throwable failure) {
            return Failures.join(before, failure);
        }
    }

    /// Loads this class, as [Failures#load] does.
    static void load() {
        // being called is enough
    }
}
