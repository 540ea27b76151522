// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Local memory of an operation, in pieces of no more regions than the fabric takes at once. Held until the
/// fabric has let go.
final class Gather {

    private static final long ENTRY_BYTES = 16;

    // none: the caller holds the memory
    private final @Nullable SealedBuffer held;
    private final IoVec bytes;
    private final int mostRegions;

    private Gather(@Nullable SealedBuffer held, IoVec bytes, int mostRegions) {
        this.held = held;
        this.bytes = bytes;
        this.mostRegions = mostRegions;
    }

    /// Memory that the caller holds.
    static Gather of(MemorySegment memory) {
        return new Gather(null, checked(IoVec.of(memory)), 1);
    }

    /// A handle of its own on a buffer.
    static Gather of(SealedBuffer buffer, int mostRegions) {
        SealedBuffer held = buffer.share();
        boolean whole = false;
        try {
            Gather gather = new Gather(held, checked(held.iovec().lent()), mostRegions);
            whole = true;
            return gather;
        } finally {
            if (!whole) {
                held.close();
            }
        }
    }

    /// The same in one piece: what is more than the fabric takes at once is copied.
    static Gather inOnePiece(SealedBuffer buffer, int mostRegions) {
        Gather gather = of(buffer, mostRegions);
        boolean whole = false;
        try {
            Gather one = gather.pieces() == 1 ? gather : new Gather(gather.held, gather.copied(), mostRegions);
            whole = true;
            return one;
        } finally {
            if (!whole) {
                gather.letGo();
            }
        }
    }

    private IoVec copied() {
        MemorySegment[] regions = new MemorySegment[mostRegions];
        for (int i = 0; i < mostRegions - 1; i++) {
            regions[i] = bytes.region(i);
        }
        long rest = sum(mostRegions - 1, bytes.regionCount());
        MemorySegment copy = Arena.ofAuto().allocate(rest, 8);
        long at = 0;
        for (int i = mostRegions - 1; i < bytes.regionCount(); i++) {
            MemorySegment region = bytes.region(i);
            MemorySegment.copy(region, 0, copy, at, region.byteSize());
            at += region.byteSize();
        }
        regions[mostRegions - 1] = copy;
        return IoVec.of(regions);
    }

    /// At least 1: no bytes are a piece, too.
    int pieces() {
        return Math.max(1, (bytes.regionCount() + mostRegions - 1) / mostRegions);
    }

    long byteSize() {
        return bytes.byteSize();
    }

    /// Where a piece begins.
    long offset(int piece) {
        return sum(0, first(piece));
    }

    long byteSize(int piece) {
        return sum(first(piece), first(piece + 1));
    }

    /// Writes a piece's regions, and where they are into a message's first three words.
    void fill(Arena own, MemorySegment message, int piece) {
        int from = first(piece);
        int count = first(piece + 1) - from;
        MemorySegment entries = own.allocate(Math.max(1, count) * ENTRY_BYTES, 8);
        for (int i = 0; i < count; i++) {
            MemorySegment region = bytes.region(from + i);
            entries.set(JAVA_LONG, i * ENTRY_BYTES, region.address());
            entries.set(JAVA_LONG, i * ENTRY_BYTES + 8, region.byteSize());
        }
        message.set(JAVA_LONG, 0, entries.address());
        message.set(JAVA_LONG, 8, 0);
        message.set(JAVA_LONG, 16, count);
    }

    /// Once.
    void letGo() {
        if (held != null) {
            held.close();
        }
    }

    private int first(int piece) {
        return Math.min(piece * mostRegions, bytes.regionCount());
    }

    private long sum(int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            sum += bytes.region(i).byteSize();
        }
        return sum;
    }

    private static IoVec checked(IoVec bytes) {
        for (int i = 0; i < bytes.regionCount(); i++) {
            if (!bytes.region(i).isNative()) {
                throw new IllegalArgumentException("memory is on the heap: region=" + i + " byteSize="
                        + bytes.region(i).byteSize());
            }
        }
        return bytes;
    }
}
