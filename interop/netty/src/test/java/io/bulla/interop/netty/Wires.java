// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.testkit.needs.Piece;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;

/// The transports that a program may choose.
enum Wires {
    NIO(NioIoHandler::newFactory, NioServerSocketChannel.class, NioSocketChannel.class) {
        @Override
        Throwable missing() {
            return null;
        }
    },
    EPOLL(EpollIoHandler::newFactory, EpollServerSocketChannel.class, EpollSocketChannel.class) {
        @Override
        Throwable missing() {
            return Epoll.unavailabilityCause();
        }
    },
    IO_URING(IoUringIoHandler::newFactory, IoUringServerSocketChannel.class, IoUringSocketChannel.class) {
        @Override
        Throwable missing() {
            return IoUring.unavailabilityCause();
        }
    };

    interface Loops {
        IoHandlerFactory make();
    }

    private final Loops loops;
    private final Class<? extends ServerChannel> server;
    private final Class<? extends Channel> client;

    Wires(Loops loops, Class<? extends ServerChannel> server, Class<? extends Channel> client) {
        this.loops = loops;
        this.server = server;
        this.client = client;
    }

    /// Why this machine has it not, or null.
    abstract Throwable missing();

    private Piece needed() {
        return this == IO_URING ? Piece.IO_URING : Piece.EPOLL;
    }

    /// Skips the test, and says why, where the kernel or the processor is another one.
    IoHandlerFactory loops() {
        needed().orSkip(missing());
        return loops.make();
    }

    ServerBootstrap server() {
        return new ServerBootstrap().channel(server);
    }

    Bootstrap client() {
        return new Bootstrap().channel(client);
    }
}
