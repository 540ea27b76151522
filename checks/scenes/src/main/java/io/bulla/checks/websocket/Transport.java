// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// How the server asks the kernel.
enum Transport {
    NIO(() -> null, NioIoHandler::newFactory, NioServerSocketChannel.class),
    EPOLL(Epoll::unavailabilityCause, EpollIoHandler::newFactory, EpollServerSocketChannel.class),
    IO_URING(IoUring::unavailabilityCause, IoUringIoHandler::newFactory, IoUringServerSocketChannel.class);

    private final Supplier<@Nullable Throwable> missing;
    private final Supplier<IoHandlerFactory> handlers;
    private final Class<? extends ServerChannel> server;

    Transport(
            Supplier<@Nullable Throwable> missing,
            Supplier<IoHandlerFactory> handlers,
            Class<? extends ServerChannel> server) {
        this.missing = missing;
        this.handlers = handlers;
        this.server = server;
    }

    /// @param name in lower case
    static Transport named(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    /// Why it cannot be had here, or `null`.
    @Nullable
    Throwable missing() {
        return missing.get();
    }

    IoHandlerFactory handlers() {
        return handlers.get();
    }

    Class<? extends ServerChannel> server() {
        return server;
    }
}
