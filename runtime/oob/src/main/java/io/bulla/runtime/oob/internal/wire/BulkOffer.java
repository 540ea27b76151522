// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.wire;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLine;
import org.jspecify.annotations.Nullable;

/// The part of a HELLO that names a line for long messages: type 1, then the address of its end.
public final class BulkOffer {

    private static final byte TYPE = 1;

    private BulkOffer() {}

    /// @param address at most [BulkLine#MOST_ADDRESS] bytes
    public static byte[] part(byte... address) {
        if (address.length > BulkLine.MOST_ADDRESS) {
            throw new IllegalArgumentException(
                    "address is too long: bytes=" + address.length + " most=" + BulkLine.MOST_ADDRESS);
        }
        return HelloParts.part(TYPE, address);
    }

    /// @param body of a HELLO
    /// @return `null` if it offers none
    public static byte @Nullable [] read(SealedBuffer body) {
        return HelloParts.find(body, TYPE);
    }
}
