// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A vector that keeps an object reachable, or throws once a stamp has ended, or both.
///
/// @param bytes one region or many
/// @param keeper never looked at
/// @param stamps checked before each use
record GuardedVec(IoVec bytes, @Nullable Object keeper, Generation... stamps) implements IoVec {

    static IoVec around(IoVec bytes, IoVec... parts) {
        List<Generation> stamps = new ArrayList<>();
        boolean guarded = false;
        for (IoVec part : parts) {
            if (part instanceof GuardedVec one) {
                guarded = true;
                stamps.addAll(List.of(one.stamps));
            }
        }
        return guarded ? new GuardedVec(bytes, parts.clone(), stamps.toArray(Generation[]::new)) : bytes;
    }

    @Override
    public IoVec keeping(Object holder) {
        return new GuardedVec(bytes, keeper == null ? holder : new Object[] {keeper, holder}, stamps);
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
    public MemorySegment region(int index) {
        check();
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
        check();
        return new GuardedVec(bytes.slice(offset, length), keeper, stamps);
    }

    @Override
    public byte get(ValueLayout.OfByte layout, long offset) {
        check();
        try {
            return bytes.get(layout, offset);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public short get(ValueLayout.OfShort layout, long offset) {
        check();
        try {
            return bytes.get(layout, offset);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int get(ValueLayout.OfInt layout, long offset) {
        check();
        try {
            return bytes.get(layout, offset);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long get(ValueLayout.OfLong layout, long offset) {
        check();
        try {
            return bytes.get(layout, offset);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void copyTo(long offset, MemorySegment target, long length) {
        check();
        try {
            bytes.copyTo(offset, target, length);
        } finally {
            Reference.reachabilityFence(this);
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

    private void check() {
        for (Generation stamp : stamps) {
            if (stamp.isEnded()) {
                throw stale();
            }
        }
    }

    private IllegalStateException stale() {
        return new IllegalStateException("stale view: its memory was given back: byteSize=" + bytes.byteSize()
                + " regions=" + bytes.regionCount());
    }
}
