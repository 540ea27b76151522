// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;

/// Items that came with the word on what they are.
///
/// @param format how they are packed
/// @param items a handle of this holder
public record Enveloped(WireFormat format, SealedBuffer items) implements AutoCloseable {

    /// An unpacker at the first item.
    ///
    /// @param limits what the items may announce
    /// @return an unpacker that borrows the handle
    public Unpacker unpacker(Limits limits) {
        return Unpacker.of(items, format, limits);
    }

    /// Closes the handle.
    @Override
    public void close() {
        items.close();
    }
}
