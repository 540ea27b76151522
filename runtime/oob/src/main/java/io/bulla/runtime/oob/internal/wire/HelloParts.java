// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.SealedBuffer;
import org.jspecify.annotations.Nullable;

/// What a HELLO may have behind its [Hello]: parts, of which a reader passes over those that it does not
/// know.
///
/// ```
/// 0 type | 1 length | 2 bytes ...
/// ```
final class HelloParts {

    static final int HEAD = 2;

    private HelloParts() {}

    static byte[] part(byte type, byte... bytes) {
        byte[] part = new byte[HEAD + bytes.length];
        part[0] = type;
        part[1] = (byte) bytes.length;
        System.arraycopy(bytes, 0, part, HEAD, bytes.length);
        return part;
    }

    /// @param body of a HELLO
    /// @return the first part of a type; `null` if there is none
    static byte @Nullable [] find(SealedBuffer body, byte type) {
        if (body.byteSize() <= Hello.BYTES) {
            return null;
        }
        BufferReader in = BufferReader.of(body).skip(Hello.BYTES);
        while (in.remaining() >= HEAD) {
            int found = in.getUnsignedByte();
            int length = in.getUnsignedByte();
            if (length > in.remaining()) {
                return null;
            }
            if (found == type) {
                return in.getBytes(length);
            }
            in.skip(length);
        }
        return null;
    }
}
