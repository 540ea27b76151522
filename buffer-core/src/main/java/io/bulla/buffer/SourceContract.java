// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.internal.TrustedRegion;
import java.lang.foreign.MemorySegment;

/// Checks what another's source gives, before a byte is written to it or a buffer made of it. What is wrong ends in
/// an exception that names the source.
final class SourceContract {

    /// Stands for any thread but the caller's.
    static final Thread ANY_THREAD = Thread.ofVirtual().unstarted(() -> {});

    private SourceContract() {}

    /// The memory of a region, once it was found to be fit.
    ///
    /// @param wanted bytes that are going to be in it, at least: fewer than were asked for will do
    static MemorySegment memory(MemorySource source, Region region, long wanted) {
        MemorySegment memory = region.segment();
        if (memory == null) {
            throw wrong(source, "a region without a segment", "region=" + nameOf(region));
        }
        if (memory.byteSize() < wanted) {
            throw wrong(source, "a region too small", "wanted=" + wanted + " byteSize=" + memory.byteSize());
        }
        if (!isOurs(region)) {
            check(source, memory);
        }
        return memory;
    }

    /// That sealed bytes are as many as were written.
    static MemorySegment sealed(MemorySource source, MemorySegment sealed, long used) {
        if (sealed == null) {
            throw wrong(source, "a region sealed to nothing", "wanted=" + used);
        }
        if (sealed.byteSize() != used) {
            throw wrong(source, "a region sealed to another size", "wanted=" + used + " byteSize=" + sealed.byteSize());
        }
        return sealed;
    }

    /// That a region still has the memory that was written to.
    static void unchanged(MemorySource source, Region region, MemorySegment written) {
        if (isOurs(region)) {
            return;
        }
        MemorySegment now = region.segment();
        long same = now == null
                ? -1
                : written.asOverlappingSlice(now).map(MemorySegment::byteSize).orElse(-1L);
        if (same != written.byteSize()) {
            throw wrong(
                    source,
                    "a region whose segment changed",
                    "written=" + describe(written) + " now=" + (now == null ? "null" : describe(now)));
        }
    }

    /// The error for a source that broke what [MemorySource] asks of it.
    static IllegalStateException wrong(MemorySource source, String what, String values) {
        return new IllegalStateException("memory source gave " + what + ": source=" + nameOf(source) + " " + values);
    }

    /// Our own keep the contract by themselves; and a build should not pay for what cannot be.
    private static boolean isOurs(Region region) {
        return region instanceof Block.Carved || region instanceof AloneRegion || region instanceof TrustedRegion;
    }

    private static void check(MemorySource source, MemorySegment memory) {
        if (memory.isReadOnly()) {
            throw wrong(source, "a region that cannot be written", "byteSize=" + memory.byteSize());
        }
        if (!memory.isAccessibleBy(ANY_THREAD)) {
            throw wrong(source, "a region confined to one thread", "byteSize=" + memory.byteSize());
        }
        if (!memory.scope().isAlive()) {
            throw wrong(source, "a region that is freed already", "byteSize=" + memory.byteSize());
        }
    }

    private static String describe(MemorySegment memory) {
        return "0x" + Long.toHexString(memory.address()) + "+" + memory.byteSize();
    }

    private static String nameOf(Object one) {
        return one.getClass().getName();
    }
}
