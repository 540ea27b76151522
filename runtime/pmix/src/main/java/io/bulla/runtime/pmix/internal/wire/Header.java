// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.wire;

import java.nio.ByteBuffer;

/// The header of each message.
///
/// ```
///  0        4     8        12   16
///  | index  | tag | length | 0  |    32 bits each, big-endian
/// ```
///
/// Source: PMIx 4.2, `ptl_types.h`, `pmix_ptl_hdr_t`.
///
/// @param index of this client in the server's table
/// @param tag of the call, and of its answer; without a sign
/// @param length of the body in bytes
public record Header(int index, int tag, long length) {

    public static final int BYTES = 16;

    /// Messages that answer no call.
    public static final int EVENT = 0;
    /// The first tag of a call; those below are the server's own.
    public static final int FIRST_TAG = 101;

    public static Header read(ByteBuffer bytes) {
        return new Header(bytes.getInt(0), bytes.getInt(4), bytes.getInt(8) & 0xffff_ffffL);
    }

    public ByteBuffer bytes() {
        return ByteBuffer.allocate(BYTES)
                .putInt(index)
                .putInt(tag)
                .putInt((int) length)
                .putInt(0)
                .flip();
    }
}
