// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.nio.ByteBuffer;

/// How frames begin, and who gets them. One instance may serve many channels.
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

    /// A whole frame has arrived. Runs on the channel's event loop.
    ///
    /// @param context of the reader
    /// @param header the header; valid during the call only
    /// @param body the bytes behind it; the callee closes the handle
    void frame(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body);
}
