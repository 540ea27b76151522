// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A port that is bound. Callers wait in the system's queue until there is a node to take them in.
///
/// One event loop's, but for the address.
public final class ListeningSocket {

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final EventLoop loop;
    private final Channel channel;
    // before the first connection is accepted
    private @Nullable Consumer<Channel> accepts;
    private boolean paused;
    private long pausedAt;

    private ListeningSocket(EventLoop loop, ChannelFuture bound) {
        this.loop = loop;
        this.channel = bound.channel();
    }

    /// Binds, without waiting for it.
    ///
    /// @param given a socket that listens already, or `null`
    /// @return completes with the socket, or with an [IOException]; then nothing is bound
    public static CompletableFuture<ListeningSocket> open(
            Transport transport,
            ByteBufAllocator allocator,
            EventLoop loop,
            @Nullable ServerSocketChannel given,
            InetSocketAddress bind) {
        CompletableFuture<ListeningSocket> opened = new CompletableFuture<>();
        Initializer initializer = new Initializer();
        ServerBootstrap server = new ServerBootstrap()
                .group(loop, loop)
                .option(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(initializer);
        ChannelFuture bound;
        if (given != null) {
            bound = server.channelFactory(() -> new SteadyServerChannel(given)).register();
        } else if (transport.server() == NioServerSocketChannel.class) {
            bound = server.channelFactory(SteadyServerChannel::new).bind(bind);
        } else {
            bound = server.channel(transport.server()).bind(bind);
        }
        bound.addListener(done -> {
            if (bound.isSuccess()) {
                ListeningSocket socket = new ListeningSocket(loop, bound);
                initializer.socket = socket;
                opened.complete(socket);
            } else if (loop.inEventLoop()) {
                opened.completeExceptionally(cannotListen(bind, bound.cause()));
            } else {
                // of a channel that could not be made Netty tells on a thread of its own
                Runnable failed = () -> opened.completeExceptionally(cannotListen(bind, bound.cause()));
                LoopContext.onLoop(loop, failed, failed);
            }
        });
        return opened;
    }

    /// Accepted connections are the node's.
    private static final class Initializer extends ChannelInitializer<Channel> {

        // before the first connection is accepted
        private @Nullable ListeningSocket socket;

        @Override
        protected void initChannel(Channel fresh) {
            Objects.requireNonNull(Objects.requireNonNull(socket, "socket").accepts, "accepts")
                    .accept(fresh);
        }
    }

    private static IOException cannotListen(InetSocketAddress bind, Throwable why) {
        return new IOException(
                "cannot listen on "
                        + (bind.isUnresolved()
                                ? bind.getHostString()
                                : bind.getAddress().getHostAddress()) + ":" + bind.getPort() + ": "
                        + innermost(why).getMessage(),
                why);
    }

    /// Netty wraps what the system said, more than once.
    static Throwable innermost(Throwable failure) {
        return failure.getCause() == null ? failure : innermost(failure.getCause());
    }

    public EventLoop loop() {
        return loop;
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    /// Takes connections in from now on. On any thread; once.
    ///
    /// @param admission looks at each before anything is made for it
    /// @param accept is given each that is admitted
    void accept(ChannelHandler admission, Consumer<Channel> accept) {
        // behind Netty's own task, which adds what accepts
        loop.execute(() -> {
            accepts = accept;
            channel.pipeline().addFirst(admission);
            channel.config().setAutoRead(true);
        });
    }

    /// Netty pauses for a second after a failure; if there is no heap then to ask for the end of the pause, it would
    /// have none.
    void tick(long now) {
        boolean pauses =
                accepts != null && channel.isOpen() && !channel.config().isAutoRead();
        if (!pauses || !paused) {
            paused = pauses;
            pausedAt = now;
        } else if (now - pausedAt > LONGEST_PAUSE_NANOS) {
            channel.config().setAutoRead(true);
        }
    }

    /// @return completes when the port is free
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        LoopContext.onLoop(
                loop,
                () -> channel.close().addListener(done -> closed.complete(null)),
                // it has closed its channels
                () -> closed.complete(null));
        return closed;
    }
}
