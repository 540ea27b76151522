// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

import io.bulla.buffer.SealedBuffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The part of a HELLO of a node that goes on from a checkpoint: type 2, numbers big-endian. Who goes on from none
/// says nothing of this.
///
/// ```
///  0  epoch                 8 bytes
///  8  attempt               8    random, of the attempt that took the checkpoint; 0: not known
/// 16  your last life        8    the process of yours that I have heard since; 0: none
/// 24  waits                 1    1: the session is as in the checkpoint, I have not heard you since
/// 25
/// ```
///
/// A later version may append; what is behind is not read.
///
/// @param epoch of the checkpoint
/// @param attempt that took it
/// @param heard life of the peer's process that the node has heard last, or 0
/// @param waits whether the session is still the one of the checkpoint
public record RestoredFrom(long epoch, long attempt, long heard, boolean waits) {

    private static final byte TYPE = 2;
    private static final int BYTES = 25;

    public byte[] part() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(epoch).putLong(attempt).putLong(heard).put((byte) (waits ? 1 : 0));
        return HelloParts.part(TYPE, bytes.array());
    }

    /// @param body of a HELLO
    /// @return `null` if the node goes on from no checkpoint, or does not say so
    public static @Nullable RestoredFrom read(SealedBuffer body) {
        byte[] part = HelloParts.find(body, TYPE);
        if (part == null || part.length < BYTES) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.wrap(part);
        return new RestoredFrom(bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.get() != 0);
    }
}
