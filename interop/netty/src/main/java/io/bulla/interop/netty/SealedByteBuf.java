// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/// What Netty sees of one piece of a send: read-only views, and a word when Netty lets go of them.
final class SealedByteBuf extends CompositeByteBuf {

    private final Runnable letGo;

    SealedByteBuf(ByteBufAllocator alloc, ByteBuf[] views, Runnable letGo) {
        super(alloc, true, Math.max(1, views.length), views);
        this.letGo = letGo;
    }

    @Override
    protected void deallocate() {
        try {
            super.deallocate();
        } finally {
            letGo.run();
        }
    }
}
