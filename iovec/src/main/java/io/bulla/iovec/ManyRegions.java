// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Two regions or more, none empty. `starts[i]` is the offset of region `i`; the last entry is the size.
final class ManyRegions implements IoVec {

    private final MemorySegment[] regions;
    private final long[] starts;

    ManyRegions(MemorySegment[] regions) {
        this.regions = regions;
        this.starts = new long[regions.length + 1];
        for (int i = 0; i < regions.length; i++) {
            starts[i + 1] = Math.addExact(starts[i], regions[i].byteSize());
        }
    }

    @Override
    public long byteSize() {
        return starts[regions.length];
    }

    @Override
    public int regionCount() {
        return regions.length;
    }

    @Override
    public MemorySegment region(int index) {
        return regions[index];
    }

    @Override
    public int regionAt(long offset) {
        IoVec.checkRange("region", offset, 1, byteSize());
        return indexOf(offset);
    }

    @Override
    public long regionStart(int index) {
        return starts[Objects.checkIndex(index, regions.length)];
    }

    @Override
    public IoVec slice(long offset, long length) {
        IoVec.checkRange("slice", offset, length, byteSize());
        if (length == 0) {
            return IoVec.empty();
        }
        int first = indexOf(offset);
        int last = indexOf(offset + length - 1);
        MemorySegment[] parts = Arrays.copyOfRange(regions, first, last + 1);
        long tail = offset + length - starts[last];
        parts[last - first] = parts[last - first].asSlice(0, tail);
        parts[0] = parts[0].asSlice(offset - starts[first]);
        return parts.length == 1 ? new OneRegion(parts[0]) : new ManyRegions(parts);
    }

    @Override
    public RecordView record(long offset, int byteSize) {
        IoVec.checkRange("record", offset, byteSize, byteSize());
        if (byteSize == 0) {
            return RecordView.of(OneRegion.EMPTY.segment());
        }
        int at = indexOf(offset);
        return RecordView.of(
                offset + byteSize <= starts[at + 1]
                        ? regions[at].asSlice(offset - starts[at], byteSize)
                        : gathered(at, offset, byteSize));
    }

    @Override
    public byte get(ValueLayout.OfByte layout, long offset) {
        IoVec.checkRange("read", offset, 1, byteSize());
        int at = indexOf(offset);
        return regions[at].get(layout, offset - starts[at]);
    }

    @Override
    public short get(ValueLayout.OfShort layout, long offset) {
        IoVec.checkRange("read", offset, Short.BYTES, byteSize());
        int at = indexOf(offset);
        return offset + Short.BYTES <= starts[at + 1]
                ? regions[at].get(layout, offset - starts[at])
                : gathered(at, offset, Short.BYTES).get(layout, 0);
    }

    @Override
    public int get(ValueLayout.OfInt layout, long offset) {
        IoVec.checkRange("read", offset, Integer.BYTES, byteSize());
        int at = indexOf(offset);
        return offset + Integer.BYTES <= starts[at + 1]
                ? regions[at].get(layout, offset - starts[at])
                : gathered(at, offset, Integer.BYTES).get(layout, 0);
    }

    @Override
    public long get(ValueLayout.OfLong layout, long offset) {
        IoVec.checkRange("read", offset, Long.BYTES, byteSize());
        int at = indexOf(offset);
        return offset + Long.BYTES <= starts[at + 1]
                ? regions[at].get(layout, offset - starts[at])
                : gathered(at, offset, Long.BYTES).get(layout, 0);
    }

    @Override
    public void copyTo(long offset, MemorySegment target, long length) {
        IoVec.checkRange("copy", offset, length, byteSize());
        IoVec.checkRange("copy into target", 0, length, target.byteSize());
        if (length > 0) {
            gather(indexOf(offset), offset, target, length);
            CopyTally.add(length);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IoVec that && mismatch(that) < 0;
    }

    @Override
    public int hashCode() {
        return Content.hash(this);
    }

    @Override
    public String toString() {
        return "IoVec[byteSize=" + byteSize() + " regions=" + regionCount() + "]";
    }

    private MemorySegment gathered(int first, long offset, int length) {
        MemorySegment value = MemorySegment.ofArray(new byte[length]);
        gather(first, offset, value, length);
        return value;
    }

    private void gather(int first, long offset, MemorySegment target, long length) {
        long done = 0;
        for (int at = first; done < length; at++) {
            long from = offset + done - starts[at];
            long step = Math.min(length - done, regions[at].byteSize() - from);
            MemorySegment.copy(regions[at], from, target, done, step);
            done += step;
        }
    }

    private int indexOf(long offset) {
        int found = Arrays.binarySearch(starts, offset);
        return found >= 0 ? found : -found - 2;
    }
}
