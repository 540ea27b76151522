// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// The messages of the two ends of a link. All numbers are big-endian.
///
/// ```
/// 0 version | 1 kind | 2 zeros | 8 id of the transfer | 16 size, or key | 24 target      32 bytes
/// ```
///
/// @param id of the transfer, the sender's
/// @param first bytes of the buffer, with [Kind#REQUEST]; key of the grant, with [Kind#CLEAR]
/// @param second where to write, with [Kind#CLEAR]
record LinkMessage(Kind kind, long id, long first, long second) {

    static final int BYTES = 32;

    private static final byte VERSION = 2;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /// In the order of a transfer.
    enum Kind {
        /// A buffer is to be sent.
        REQUEST,
        /// There is memory for it.
        CLEAR,
        /// There is none.
        REFUSED,
        /// All of it is written, by writes that did not say so themselves.
        FINISHED
    }

    void write(MemorySegment to) {
        to.asSlice(0, BYTES).fill((byte) 0);
        to.set(JAVA_BYTE, 0, VERSION);
        to.set(JAVA_BYTE, 1, (byte) kind.ordinal());
        to.set(LONG, 8, id);
        to.set(LONG, 16, first);
        to.set(LONG, 24, second);
    }

    /// @return `null` if it is no such message
    static @Nullable LinkMessage read(MemorySegment from, long byteSize) {
        if (byteSize != BYTES || from.get(JAVA_BYTE, 0) != VERSION) {
            return null;
        }
        int kind = Byte.toUnsignedInt(from.get(JAVA_BYTE, 1));
        if (kind >= Kind.values().length) {
            return null;
        }
        return new LinkMessage(Kind.values()[kind], from.get(LONG, 8), from.get(LONG, 16), from.get(LONG, 24));
    }
}
