// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ReadOnlyDirectByteBufferBufTest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// What Netty asks of its own read-only buffers, asked of a sealed region as Netty gets it.
class NettysReadOnlyTests extends ReadOnlyDirectByteBufferBufTest {

    private final ArenaSource memory = ArenaSource.create();

    @Override
    protected ByteBuf buffer(ByteBuffer bytes) {
        SealedBuffer sealed =
                BufferBuilder.create(memory).put(MemorySegment.ofBuffer(bytes)).seal();
        return new HeldBytes(sealed, NioViews.of(sealed));
    }
}
