// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A vector that keeps an object reachable, or throws once a stamp has ended, or both. A read looks at the stamp when
/// it is over, since the memory may be another owner's by then.
///
/// @param bytes one region or many
/// @param keeper never looked at
/// @param stamps checked after each read
record GuardedVec(IoVec bytes, @Nullable Object keeper, Generation... stamps) implements IoVec {

    private static final Generation[] NONE = {};

    static IoVec around(IoVec bytes, IoVec... parts) {
        List<Generation> stamps = new ArrayList<>();
        boolean guarded = false;
        for (IoVec part : parts) {
            guarded |= part instanceof GuardedVec || part.isStamped();
            stamps.addAll(List.of(stampsOf(part)));
        }
        return guarded ? new GuardedVec(bytes, parts.clone(), stamps.toArray(Generation[]::new)) : bytes;
    }

    /// The regions as they are, for a caller that looks at the stamps itself.
    static IoVec regionsOf(IoVec vec) {
        return switch (vec) {
            case GuardedVec guarded -> guarded.bytes;
            case StampedRegion one -> one.bytes();
            default -> vec;
        };
    }

    static Generation[] stampsOf(IoVec vec) {
        return switch (vec) {
            case GuardedVec guarded -> guarded.stamps;
            case StampedRegion one -> new Generation[] {one.stamp()};
            default -> NONE;
        };
    }

    @Override
    public IoVec keeping(Object holder) {
        return new GuardedVec(bytes, keeper == null ? holder : new Object[] {keeper, holder}, stamps);
    }

    /// All stamps in one list: what looks at them, or past them, looks at one vector.
    @Override
    public IoVec stamped(Generation stamp) {
        Generation[] all = Arrays.copyOf(stamps, stamps.length + 1);
        all[stamps.length] = stamp;
        return new GuardedVec(bytes, keeper, all);
    }

    @Override
    public long byteSize() {
        return bytes.byteSize();
    }

    @Override
    public int regionCount() {
        return bytes.regionCount();
    }

    @Override
    public boolean isStamped() {
        return stamps.length > 0;
    }

    @Override
    public int stampCount() {
        return stamps.length;
    }

    @Override
    public Generation stamp(int index) {
        return stamps[Objects.checkIndex(index, stamps.length)];
    }

    @Override
    public IoVec lent() {
        verify();
        return bytes;
    }

    @Override
    public void verify() {
        // acquire: Generation 1, the read that the caller made is above this line
        VarHandle.acquireFence();
        for (Generation stamp : stamps) {
            if (stamp.isEnded()) {
                throw stale();
            }
        }
    }

    @Override
    public MemorySegment region(int index) {
        for (Generation stamp : stamps) {
            if (!stamp.escape()) {
                throw stale();
            }
        }
        return bytes.region(index);
    }

    @Override
    public int regionAt(long offset) {
        return bytes.regionAt(offset);
    }

    @Override
    public long regionStart(int index) {
        return bytes.regionStart(index);
    }

    @Override
    public IoVec slice(long offset, long length) {
        verify();
        return new GuardedVec(bytes.slice(offset, length), keeper, stamps);
    }

    @Override
    public RecordView record(long offset, int byteSize) {
        return bytes.record(offset, byteSize).guarded(keeper, stamps);
    }

    @Override
    public byte get(ValueLayout.OfByte layout, long offset) {
        try {
            return bytes.get(layout, offset);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public short get(ValueLayout.OfShort layout, long offset) {
        try {
            return bytes.get(layout, offset);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int get(ValueLayout.OfInt layout, long offset) {
        try {
            return bytes.get(layout, offset);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long get(ValueLayout.OfLong layout, long offset) {
        try {
            return bytes.get(layout, offset);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void copyTo(long offset, MemorySegment target, long length) {
        verify();
        try {
            bytes.copyTo(offset, target, length);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IoVec that && mismatch(that) < 0;
    }

    @Override
    public int hashCode() {
        try {
            return Content.hash(bytes);
        } finally {
            verify();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public String toString() {
        return "IoVec[byteSize=" + byteSize() + " regions=" + regionCount() + "]";
    }

    /// Keeps the memory from being reused for the time of one call.
    ///
    /// @throws IllegalStateException if a stamp has ended; then nothing is held
    static void hold(IoVec vec, Generation... stamps) {
        for (int i = 0; i < stamps.length; i++) {
            if (!stamps[i].hold()) {
                letGo(stamps, i);
                throw stale(vec);
            }
        }
    }

    static void letGo(Generation[] stamps, int count) {
        for (int i = 0; i < count; i++) {
            stamps[i].letGo();
        }
    }

    private IllegalStateException stale() {
        return stale(bytes);
    }

    static IllegalStateException stale(IoVec bytes) {
        return new IllegalStateException("stale view: its memory was given back: byteSize=" + bytes.byteSize()
                + " regions=" + bytes.regionCount());
    }
}
