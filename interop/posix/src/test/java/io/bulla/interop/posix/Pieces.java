// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bulla.iovec.IoVec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/// Bytes that look like no others, and vectors over them in pieces at odd addresses.
final class Pieces {

    private Pieces() {}

    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    /// The first bytes of `bytes`, cut into regions of `lengths`.
    static IoVec of(Arena arena, byte[] bytes, int... lengths) {
        MemorySegment[] regions = new MemorySegment[lengths.length];
        int at = 0;
        for (int i = 0; i < lengths.length; i++) {
            // between its neighbours lies a byte that belongs to none of them
            regions[i] = arena.allocate(lengths[i] + 1, 2).asSlice(1);
            MemorySegment.copy(bytes, at, regions[i], JAVA_BYTE, 0, lengths[i]);
            at += lengths[i];
        }
        return IoVec.of(regions);
    }
}
