// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;

/// How a server of Netty's asks the kernel.
enum Transport {
    /// A system call for each write.
    NIO {
        @Override
        IoHandlerFactory handlers() {
            return NioIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> server() {
            return NioServerSocketChannel.class;
        }
    },
    /// One system call for the writes of a turn of the loop.
    IO_URING {
        @Override
        IoHandlerFactory handlers() {
            return IoUringIoHandler.newFactory();
        }

        @Override
        Class<? extends ServerChannel> server() {
            return IoUringServerSocketChannel.class;
        }
    };

    abstract IoHandlerFactory handlers();

    abstract Class<? extends ServerChannel> server();
}
