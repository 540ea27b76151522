// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.machine.IdleReleasingIoHandler;
import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.Objects;

/// What carries a node's connections: which of Netty's event loops and stream channels.
///
/// [#NIO] is everywhere, and the one whose bytes land in the memory source itself. Netty's native transports read
/// into memory of their own, of which one copy is made and counted. A program that has them on its class path
/// names them, so that this library does not depend on them:
///
/// ```
/// new Transport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class, EpollSocketChannel.class)
/// new Transport(IoUringIoHandler.newFactory(), IoUringServerSocketChannel.class, IoUringSocketChannel.class)
/// ```
///
/// @param loops makes what an event loop of the node's own runs on
/// @param server listens
/// @param client connects
public record Transport(
        IoHandlerFactory loops, Class<? extends ServerChannel> server, Class<? extends Channel> client) {

    /// The JDK's selectors.
    public static final Transport NIO =
            new Transport(NioIoHandler.newFactory(), NioServerSocketChannel.class, NioSocketChannel.class);

    /// Checks that all are there.
    public Transport {
        Objects.requireNonNull(loops, "loops");
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(client, "client");
    }

    /// Makes event loops as [#loops] does, which hold descriptors only while they have channels: a selector is closed
    /// with the last channel and made again for the next one. The loop of a node's own is such a one; this is for
    /// [OobNodeBuilder#loops] of nodes that are to be in the image of a process.
    ///
    /// @return a factory for the same channels; [#loops] itself if they are io_uring's, whose ring stays
    public IoHandlerFactory restingLoops() {
        return hasRing() ? loops : executor -> new IdleReleasingIoHandler(loops, executor);
    }

    /// Operations of a ring end some time after its channels, and need it. By name, for it may not be there.
    private boolean hasRing() {
        return client.getName().startsWith("io.netty.channel.uring.");
    }
}
