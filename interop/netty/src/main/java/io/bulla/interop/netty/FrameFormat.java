// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.nio.ByteBuffer;

/// Reads the headers of frames, and takes their bodies. One instance may serve many channels.
public interface FrameFormat {

    /// Size of the fixed header in bytes.
    ///
    /// @return at least 1
    int headerBytes();

    /// Checks a header and tells how many bytes follow it. Called before any memory is taken for them.
    ///
    /// @param header `headerBytes()` bytes at position 0, big-endian
    /// @return at least 0
    /// @throws IOException if the header is not one, or announces too much: the channel is closed
    long bodyBytes(ByteBuffer header) throws IOException;

    /// Whether the body of the frame whose header was just checked is wanted. Asked once, before any memory is
    /// taken for it; the bytes of one that is not wanted are skipped, and `frame` is not called.
    ///
    /// @return true by default
    default boolean wantsBody() {
        return true;
    }

    /// There is no memory for the body of the frame whose header was just checked.
    ///
    /// @param why what the memory source said
    /// @return true if the bytes are to be skipped: `frame` is not called, the connection stays; false, as by
    ///     default, if the channel is to be closed
    default boolean skipsWithoutMemory(RuntimeException why) {
        return false;
    }

    /// A whole frame has arrived, and its body is the callee's from now on. Runs on the channel's event loop.
    ///
    /// @param context of the reader
    /// @param header the header; valid during the call only
    /// @param body the bytes behind it; the callee closes the handle
    void frameMoved(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body);
}
