// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import java.util.Optional;

/// A received message.
///
/// @param origin rank of the node that first sent it
/// @param tag chosen by its program
/// @param format how the bytes are packed, if the sender said
/// @param buffer the bytes, open while the handler runs; to keep them, `share()`
public record Message(int origin, int tag, Optional<WireFormat> format, SealedBuffer buffer) {

    /// An unpacker at the first item, in the format that the sender said.
    ///
    /// @param limits what the items may announce
    /// @return an unpacker that borrows the bytes
    /// @throws IllegalStateException if the sender did not say a format
    public Unpacker unpacker(Limits limits) {
        return Unpacker.of(
                buffer,
                format.orElseThrow(() ->
                        new IllegalStateException("message does not say its format: origin=" + origin + " tag=" + tag)),
                limits);
    }
}
