// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;

/// Bytes that say where they stand: 0, 1, 2 ... 255, 0 ...
final class Bytes {

    private Bytes() {}

    static byte[] numbered(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    static IoVec vector(byte... bytes) {
        return IoVec.of(MemorySegment.ofArray(bytes));
    }

    static SealedBuffer sealed(MemorySource source, int size) {
        return sealed(source, size, null);
    }

    static SealedBuffer sealed(MemorySource source, int size, Object tag) {
        return BufferBuilder.ofCapacity(source, size).put(numbered(size)).seal(tag);
    }
}
