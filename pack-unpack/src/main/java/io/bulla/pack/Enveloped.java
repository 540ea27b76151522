// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import java.util.Optional;

/// Items that came with the word on what they are.
///
/// @param format how they are packed; nothing: the reader has to know
/// @param items a handle of this holder
public record Enveloped(Optional<WireFormat> format, SealedBuffer items) implements AutoCloseable {

    /// An unpacker at the first item.
    ///
    /// @param limits what the items may announce
    /// @return an unpacker that borrows the handle
    /// @throws IllegalStateException if no format was said
    public Unpacker unpacker(Limits limits) {
        return Unpacker.of(
                items,
                format.orElseThrow(() -> new IllegalStateException("no format was said: bytes=" + items.byteSize())),
                limits);
    }

    /// Closes the handle.
    @Override
    public void close() {
        items.close();
    }
}
