// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// A port while the heap is full.
class SteadyServerChannelTest {

    private final AtomicInteger failures = new AtomicInteger();
    private final CountDownLatch accepted = new CountDownLatch(1);

    @Test
    void errorWhileItAcceptsDoesNotCloseIt() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Channel server = new ServerBootstrap()
                    .group(loops)
                    .channelFactory(() -> new SteadyServerChannel() {
                        @Override
                        protected int doReadMessages(List<Object> fresh) throws Exception {
                            if (failures.compareAndSet(0, 1)) {
                                throw new OutOfMemoryError("as told");
                            }
                            return super.doReadMessages(fresh);
                        }
                    })
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext context) {
                            accepted.countDown();
                        }
                    })
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .sync()
                    .channel();
            InetSocketAddress address = (InetSocketAddress) server.localAddress();
            try (Socket client = new Socket(address.getAddress(), address.getPort())) {
                // Netty makes a pause of a second
                assertTrue(accepted.await(30, TimeUnit.SECONDS));
                assertTrue(client.isConnected());
            }
            assertEquals(1, failures.get());
            assertTrue(server.isOpen());
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }
}
