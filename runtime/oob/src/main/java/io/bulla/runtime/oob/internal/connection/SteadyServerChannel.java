// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.nio.channels.ServerSocketChannel;

/// A port that stays open while the heap is full: Netty's closes it for good at an error while it accepts.
class SteadyServerChannel extends NioServerSocketChannel {

    SteadyServerChannel() {}

    /// @param listens already
    SteadyServerChannel(ServerSocketChannel listens) {
        super(listens);
    }

    @Override
    protected boolean closeOnReadError(Throwable cause) {
        return (!(cause instanceof Error) || !isActive()) && super.closeOnReadError(cause);
    }
}
