// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.iovec.IoVec;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/// A message, or a piece of a long one: the header, and behind it regions of the sealed buffer.
final class MessagePiece extends RegionsByteBuf {

    /// What holds the memory until each piece was released.
    interface Holder {
        void happened();
    }

    private final ByteBuf header;
    private final int headerBytes;
    private final Holder holder;

    /// @param header released with this, and not read or moved by others any more
    /// @param holder told once this has no holder any more
    MessagePiece(ByteBuf header, IoVec bytes, Holder holder) {
        super(header.readableBytes(), bytes);
        this.header = header;
        this.headerBytes = header.readableBytes();
        this.holder = holder;
    }

    @Override
    void letGo() {
        try {
            header.release();
        } finally {
            holder.happened();
        }
    }

    @Override
    int before() {
        return headerBytes;
    }

    @Override
    byte byteBefore(int index) {
        return header.getByte(header.readerIndex() + index);
    }

    @Override
    ByteBuffer viewBefore(int index, int length) {
        return header.nioBuffer(header.readerIndex() + index, length);
    }

    @Override
    boolean isDirectBefore() {
        return headerBytes == 0 || header.isDirect();
    }
}
