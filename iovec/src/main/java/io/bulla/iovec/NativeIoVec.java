// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/// The `struct iovec[]` image of a vector: built once, read by any number of sends at the same time.
///
/// ```
/// entry i, at 16 * i:   0        8        16
///                       | base   | len    |        64 bits each, in the machine's byte order
/// ```
///
/// The image names addresses, and the JDK does not see addresses inside memory: an arena can be closed beneath a
/// system call that was given an image. The sender must hold the memory, with a handle of its own, from before
/// the call until the kernel is done with it.
public final class NativeIoVec {

    /// Size of one entry in bytes.
    public static final long ENTRY_BYTES = 16;

    static final long LENGTH = 8;

    private final IoVec vec;
    private final MemorySegment entries;

    private NativeIoVec(IoVec vec, MemorySegment entries) {
        this.vec = vec;
        this.entries = entries;
    }

    /// Builds the image of `vec`.
    ///
    /// @param vec regions of native memory; the image keeps it reachable
    /// @param memory where the image lies: 16 bytes per region, aligned to 8, good for as long as the image is
    ///     used
    /// @return the image
    /// @throws IllegalArgumentException if a region lies on the heap, where the kernel cannot reach it, or its
    ///     arena was closed
    public static NativeIoVec of(IoVec vec, SegmentAllocator memory) {
        int count = vec.regionCount();
        for (int i = 0; i < count; i++) {
            checkReachable("region", i, vec.region(i));
        }
        MemorySegment entries =
                memory.allocate(Math.max(1, count) * ENTRY_BYTES, ValueLayout.JAVA_LONG.byteAlignment());
        for (int i = 0; i < count; i++) {
            MemorySegment region = vec.region(i);
            put(entries, i, region.address(), region.byteSize());
        }
        return new NativeIoVec(vec, entries.asReadOnly());
    }

    /// The memory that the image names.
    ///
    /// @return the vector it was built from
    public IoVec iovec() {
        return vec;
    }

    /// Number of entries, none of length 0.
    ///
    /// @return at least 0
    public int entryCount() {
        return vec.regionCount();
    }

    /// The image itself: what `writev` takes.
    ///
    /// @return a read-only segment of at least [#entryCount()] entries
    public MemorySegment entries() {
        return entries;
    }

    /// For callers that put the image's address into memory, where the JDK does not see it.
    MemorySegment checkedEntries() {
        if (!entries.scope().isAlive()) {
            throw new IllegalStateException("image is freed already: entries=" + entryCount());
        }
        return entries;
    }

    long address(int index) {
        return entries.get(ValueLayout.JAVA_LONG, index * ENTRY_BYTES);
    }

    long length(int index) {
        return entries.get(ValueLayout.JAVA_LONG, index * ENTRY_BYTES + LENGTH);
    }

    /// An address tells neither that it is none nor that its memory is gone.
    static void checkReachable(String what, int index, MemorySegment memory) {
        if (!memory.isNative() || !memory.scope().isAlive()) {
            throw new IllegalArgumentException(what + (memory.isNative() ? " is freed already:" : " lies on the heap:")
                    + (index < 0 ? "" : " index=" + index) + " byteSize=" + memory.byteSize());
        }
    }

    static void put(MemorySegment entries, int index, long address, long length) {
        entries.set(ValueLayout.JAVA_LONG, index * ENTRY_BYTES, address);
        entries.set(ValueLayout.JAVA_LONG, index * ENTRY_BYTES + LENGTH, length);
    }
}
