// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.nio.ByteBuffer;
import java.util.Random;

/// What is sent: numbers, and the bytes that they make, big-endian.
///
/// @param values before they were packed
/// @param bytes packed
record Message(int[] values, byte[] bytes) {

    /// @param size in bytes, a multiple of four
    static Message ofSize(int size) {
        int[] values = new Random(size).ints(size / Integer.BYTES).toArray();
        byte[] bytes = new byte[size];
        ByteBuffer.wrap(bytes).asIntBuffer().put(values);
        return new Message(values, bytes);
    }

    int size() {
        return bytes.length;
    }

    SealedBuffer seal(MemorySource source) {
        return BufferBuilder.ofCapacity(source, bytes.length).put(bytes).seal();
    }

    /// Packs it once more, as fast as the JDK does that.
    void repack(ByteBuffer to) {
        to.asIntBuffer().put(values);
    }
}
