// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.SendTicket;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;

/// A sealed buffer as a `ByteBuf` that has a handle of its own: for frames, HTTP contents and whatever else Netty's
/// codecs wrap. Nothing is copied.
///
/// ```java
/// for (Channel each : channels) {
///     each.writeAndFlush(new BinaryWebSocketFrame(SealedByteBuf.share(message)));
/// }
/// ```
///
/// Two rules. The `ByteBuf` is read-only, and counted by itself: `retain` and `release` are of it alone, not of the
/// buffer. Its last `release` closes its handle, and what is read through it after that is an
/// `IllegalReferenceCountException`.
public final class SealedByteBuf {

    private SealedByteBuf() {}

    /// The bytes, with a new handle. The given one stays the caller's.
    ///
    /// @param buffer open
    /// @return to be released, by Netty if it is written
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws IllegalArgumentException if there are more than 2 GiB - 1 bytes
    public static ByteBuf share(SealedBuffer buffer) {
        return owned(buffer.share());
    }

    /// The bytes, with the given handle, which is the `ByteBuf`'s from now on, and closed if this fails.
    ///
    /// @param handle open
    /// @return to be released, by Netty if it is written
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws IllegalArgumentException if there are more than 2 GiB - 1 bytes
    public static ByteBuf move(SealedBuffer handle) {
        SealedBuffer own;
        try {
            // a stray close of the given handle must not let another buffer's bytes out
            own = handle.move(handle.tag());
        } catch (Throwable failure) {
            handle.close();
            throw failure;
        }
        return owned(own);
    }

    private static ByteBuf owned(SealedBuffer own) {
        try {
            if (own.byteSize() > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("too long for a ByteBuf: byteSize=" + own.byteSize());
            }
            IoVec bytes = own.iovec();
            if (bytes.regionCount() == 0) {
                own.close();
                return Unpooled.EMPTY_BUFFER;
            }
            if (bytes.regionCount() == 1) {
                ByteBuffer view = bytes.lent().region(0).asByteBuffer();
                return new RegionByteBuf(view, new SendTicket(own, 1), bytes.isStamped());
            }
            ByteBuffer[] views = bytes.lent().asByteBuffers();
            SendTicket ticket = new SendTicket(own, views.length);
            ByteBuf[] parts = new ByteBuf[views.length];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = new RegionByteBuf(views[i], ticket, bytes.isStamped());
            }
            // below nothing fails: the parts would close the handle in the one's place that fails
            return new CompositeByteBuf(UnpooledByteBufAllocator.DEFAULT, true, parts.length, parts);
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
    }
}
