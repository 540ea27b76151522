// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;

/// The memory beneath a buffer of Agrona's, as a segment that checks its bounds.
final class AgronaMemory {

    private AgronaMemory() {}

    /// @throws IllegalArgumentException if there is neither an array nor a `ByteBuffer` beneath, as in a buffer
    ///     around a bare address: a segment of it would take a restricted method
    /// @throws IndexOutOfBoundsException if the range is not inside the buffer
    static MemorySegment of(DirectBuffer buffer, int index, int length) {
        buffer.boundsCheck(index, length);
        ByteBuffer bytes = buffer.byteBuffer();
        byte[] array = buffer.byteArray();
        if (bytes == null && array == null) {
            throw new IllegalArgumentException("no memory that can be checked beneath: buffer="
                    + buffer.getClass().getName());
        }
        // a view of all of it: the buffer's position and limit are not what Agrona goes by
        MemorySegment memory = bytes == null
                ? MemorySegment.ofArray(array)
                : MemorySegment.ofBuffer(bytes.duplicate().clear());
        return memory.asSlice((long) buffer.wrapAdjustment() + index, length);
    }
}
