// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.internal.FlightGate;
import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Makes a buffer of regions that are written: the source seals each, then they belong to one count.
///
/// The builder they came from writes no more by then. If a step fails, the builder gives the regions back.
final class Sealing {

    private Sealing() {}

    /// A buffer of one region.
    static SealedBuffer one(MemorySource source, Region region, MemorySegment written, long used) {
        IoVec bytes = stamped(IoVec.of(seal(source, region, written, used)), region);
        return buffer(new Storage.One(source.trace(), region), bytes, 1);
    }

    /// A buffer of several regions, or of none.
    ///
    /// @param last null for an empty buffer
    /// @param end bytes in all
    static SealedBuffer many(MemorySource source, @Nullable Part last, long end) {
        Region[] regions = new Region[Part.count(last)];
        MemorySegment[] sealed = new MemorySegment[regions.length];
        long behind = end;
        int i = regions.length;
        for (Part part = last; part != null; part = part.previous()) {
            regions[--i] = part.region();
            sealed[i] = seal(source, part.region(), part.memory(), behind - part.start());
            behind = part.start();
        }
        IoVec bytes = IoVec.of(sealed);
        for (Region each : regions) {
            bytes = stamped(bytes, each);
        }
        return buffer(new Storage.Many(source.trace(), regions), bytes, regions.length);
    }

    private static MemorySegment seal(MemorySource source, Region region, MemorySegment written, long used) {
        SourceContract.unchanged(source, region, written);
        return SourceContract.sealed(source, source.seal(region, used), used);
    }

    /// @param storage a [Storage]
    private static SealedBuffer buffer(RefCount storage, IoVec bytes, int regions) {
        return new SealedBuffer(FlightGate.isOpen() ? recorded(storage, bytes.byteSize(), regions) : storage, bytes);
    }

    private static RefCount recorded(RefCount storage, long byteSize, int regions) {
        FlightEvents.sealed(byteSize, regions);
        FlightEvents.LastClose event = FlightEvents.held(byteSize);
        return event == null ? storage : new Storage.Timed(storage.trace(), (Storage) storage, event);
    }

    private static IoVec stamped(IoVec bytes, Region region) {
        Generation stamp = region.generation();
        return stamp == null ? bytes : bytes.stamped(stamp);
    }
}
