// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;

/// The bytes of a handle of its own, which its last release closes.
final class HeldBytes extends RegionsByteBuf {

    private final SealedBuffer handle;

    /// @param handle this one's from now on
    HeldBytes(SealedBuffer handle) {
        super(0, handle.iovec());
        this.handle = handle;
    }

    @Override
    void letGo() {
        handle.close();
    }
}
