// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The usual case of a [GuardedVec]: one region, one stamp, nothing to keep. Its reads cost one look each. The
/// segment is its own, not another vector's: a read behind a fence loads each field again.
final class StampedRegion implements IoVec {

    private final MemorySegment segment;
    private final Generation stamp;
    // of the segment, which a look for a device's registration would have to wait for
    private final int regions;

    StampedRegion(MemorySegment segment, Generation stamp) {
        this.segment = segment;
        this.stamp = stamp;
        this.regions = segment.byteSize() == 0 ? 0 : 1;
    }

    /// The bytes without the stamp.
    OneRegion bytes() {
        return new OneRegion(segment);
    }

    Generation stamp() {
        return stamp;
    }

    @Override
    public IoVec keeping(Object holder) {
        return new GuardedVec(bytes(), holder, stamp);
    }

    @Override
    public IoVec stamped(Generation another) {
        return new GuardedVec(bytes(), null, stamp, another);
    }

    @Override
    public boolean isStamped() {
        return true;
    }

    @Override
    public int stampCount() {
        return 1;
    }

    @Override
    public Generation stamp(int index) {
        Objects.checkIndex(index, 1);
        return stamp;
    }

    @Override
    public IoVec lent() {
        verify();
        return bytes();
    }

    @Override
    public void verify() {
        // acquire: Generation 1, the read that the caller made is above this line
        VarHandle.acquireFence();
        if (stamp.isEnded()) {
            throw stale();
        }
    }

    @Override
    public long byteSize() {
        return segment.byteSize();
    }

    @Override
    public int regionCount() {
        return regions;
    }

    @Override
    public MemorySegment region(int index) {
        Objects.checkIndex(index, regionCount());
        if (!stamp.escape()) {
            throw stale();
        }
        return segment;
    }

    @Override
    public int regionAt(long offset) {
        IoVec.checkRange("region", offset, 1, byteSize());
        return 0;
    }

    @Override
    public long regionStart(int index) {
        return Objects.checkIndex(index, regions);
    }

    @Override
    public IoVec slice(long offset, long length) {
        verify();
        IoVec.checkRange("slice", offset, length, byteSize());
        return length == byteSize() ? this : new StampedRegion(segment.asSlice(offset, length), stamp);
    }

    @Override
    public RecordView record(long offset, int byteSize) {
        return new RecordView(OneRegion.part(segment, offset, byteSize), stamp);
    }

    @Override
    public byte get(ValueLayout.OfByte layout, long offset) {
        try {
            return segment.get(layout, offset);
        } finally {
            verify();
        }
    }

    @Override
    public short get(ValueLayout.OfShort layout, long offset) {
        try {
            return segment.get(layout, offset);
        } finally {
            verify();
        }
    }

    @Override
    public int get(ValueLayout.OfInt layout, long offset) {
        try {
            return segment.get(layout, offset);
        } finally {
            verify();
        }
    }

    @Override
    public long get(ValueLayout.OfLong layout, long offset) {
        try {
            return segment.get(layout, offset);
        } finally {
            verify();
        }
    }

    @Override
    public void copyTo(long offset, MemorySegment target, long length) {
        verify();
        try {
            bytes().copyTo(offset, target, length);
        } finally {
            verify();
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IoVec that && mismatch(that) < 0;
    }

    @Override
    public int hashCode() {
        try {
            return Content.hash(bytes());
        } finally {
            verify();
        }
    }

    @Override
    public String toString() {
        return bytes().toString();
    }

    private IllegalStateException stale() {
        return GuardedVec.stale(bytes());
    }
}
