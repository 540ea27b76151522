// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.message;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;

/// How messages of the server are read.
///
/// @param format what their bytes are
/// @param limits what an item may announce
public record Reading(WireFormat format, Limits limits) {

    public Unpacker of(SealedBuffer message) {
        return Unpacker.of(message, format, limits);
    }
}
