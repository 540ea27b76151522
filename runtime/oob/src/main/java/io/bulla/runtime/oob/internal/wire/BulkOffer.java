// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

import io.bulla.buffer.BufferReader;
import io.bulla.buffer.SealedBuffer;
import org.jspecify.annotations.Nullable;

/// What a HELLO may have behind its [Hello]: parts, of which a reader passes over those that it does not
/// know.
///
/// ```
/// 0 type | 1 length | 2 bytes ...      type 1: address of a line that carries long messages
/// ```
public final class BulkOffer {

    private static final int HEAD = 2;
    private static final byte TYPE = 1;

    private BulkOffer() {}

    /// @param address at most [Hello#MOST] - [Hello#BYTES] - 2 bytes
    public static byte[] part(byte... address) {
        int most = Hello.MOST - Hello.BYTES - HEAD;
        if (address.length > most) {
            throw new IllegalArgumentException("address is too long: bytes=" + address.length + " most=" + most);
        }
        byte[] part = new byte[HEAD + address.length];
        part[0] = TYPE;
        part[1] = (byte) address.length;
        System.arraycopy(address, 0, part, HEAD, address.length);
        return part;
    }

    /// @param body of a HELLO
    /// @return `null` if it offers none
    public static byte @Nullable [] read(SealedBuffer body) {
        if (body.byteSize() <= Hello.BYTES) {
            return null;
        }
        BufferReader in = BufferReader.of(body).skip(Hello.BYTES);
        while (in.remaining() >= HEAD) {
            int type = in.getUnsignedByte();
            int length = in.getUnsignedByte();
            if (length > in.remaining()) {
                return null;
            }
            if (type == TYPE) {
                return in.getBytes(length);
            }
            in.skip(length);
        }
        return null;
    }
}
