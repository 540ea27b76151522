// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The fast path: at most one region.
record OneRegion(MemorySegment segment) implements IoVec {

    static final OneRegion EMPTY = new OneRegion(MemorySegment.NULL.asReadOnly());

    @Override
    public long byteSize() {
        return segment.byteSize();
    }

    @Override
    public int regionCount() {
        return segment.byteSize() == 0 ? 0 : 1;
    }

    @Override
    public MemorySegment region(int index) {
        Objects.checkIndex(index, regionCount());
        return segment;
    }

    @Override
    public int regionAt(long offset) {
        IoVec.checkRange("region", offset, 1, byteSize());
        return 0;
    }

    @Override
    public long regionStart(int index) {
        return Objects.checkIndex(index, regionCount());
    }

    @Override
    public IoVec slice(long offset, long length) {
        IoVec.checkRange("slice", offset, length, byteSize());
        return length == byteSize() ? this : length == 0 ? EMPTY : new OneRegion(segment.asSlice(offset, length));
    }

    @Override
    public RecordView record(long offset, int byteSize) {
        return new RecordView(part(segment, offset, byteSize), null);
    }

    /// The bytes of a record in one region. The segment looks at the bounds itself; the words for what is outside of
    /// them are the vector's.
    static MemorySegment part(MemorySegment region, long offset, int byteSize) {
        try {
            return region.asSlice(offset, byteSize);
        } catch (IndexOutOfBoundsException outside) {
            IoVec.checkRange("record", offset, byteSize, region.byteSize());
            throw outside;
        }
    }

    @Override
    public byte get(ValueLayout.OfByte layout, long offset) {
        return segment.get(layout, offset);
    }

    @Override
    public short get(ValueLayout.OfShort layout, long offset) {
        return segment.get(layout, offset);
    }

    @Override
    public int get(ValueLayout.OfInt layout, long offset) {
        return segment.get(layout, offset);
    }

    @Override
    public long get(ValueLayout.OfLong layout, long offset) {
        return segment.get(layout, offset);
    }

    @Override
    public void copyTo(long offset, MemorySegment target, long length) {
        IoVec.checkRange("copy", offset, length, byteSize());
        IoVec.checkRange("copy into target", 0, length, target.byteSize());
        if (length > 0) {
            MemorySegment.copy(segment, offset, target, 0, length);
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
}
