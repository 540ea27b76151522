// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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
        return owned(buffer.share(), null);
    }

    /// The bytes, with a new handle, for a buffer that goes to many channels: the views that a transport asks for
    /// are copies of views that were made once.
    ///
    /// @param buffer open
    /// @param views of this buffer, else they are not used
    /// @return to be released, by Netty if it is written
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws IllegalArgumentException if there are more than 2 GiB - 1 bytes
    public static ByteBuf share(SealedBuffer buffer, NioViews views) {
        Objects.requireNonNull(views, "views");
        return owned(buffer.share(), views);
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
        return owned(own, null);
    }

    static void checkSize(long byteSize) {
        if (byteSize > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("too long for a ByteBuf: byteSize=" + byteSize);
        }
    }

    private static ByteBuf owned(SealedBuffer own, @Nullable NioViews views) {
        try {
            checkSize(own.byteSize());
            if (own.iovec().regionCount() == 0) {
                own.close();
                return Unpooled.EMPTY_BUFFER;
            }
            return new HeldBytes(own, views);
        } catch (Throwable failure) {
            own.close();
            throw failure;
        }
    }
}
