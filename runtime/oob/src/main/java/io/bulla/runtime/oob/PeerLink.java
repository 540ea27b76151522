package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

/// The way to one peer: connects with the first send, keeps sends in order meanwhile, and starts over after a
/// failure.
///
/// ```
/// IDLE --first send--> CONNECTING --connected--> OPEN --closed--> IDLE      any --close()--> CLOSED, which is final
/// ```
///
/// All state belongs to the link's event loop.
final class PeerLink {

    private enum State {
        IDLE,
        CONNECTING,
        OPEN,
        CLOSED
    }

    private final OobNode node;
    private final int peer;
    private final EventLoop loop;
    private final Deque<Outgoing> waiting = new ArrayDeque<>();
    private State state = State.IDLE;
    private Channel channel;

    /// A send on its way; owns its handle until the write takes it over.
    private record Outgoing(Frame frame, SealedBuffer handle, CompletableFuture<Delivery> completion) {

        void fail(PeerFailedException failure) {
            handle.close();
            completion.completeExceptionally(failure);
        }
    }

    PeerLink(OobNode node, int peer, EventLoop loop) {
        this.node = node;
        this.peer = peer;
        this.loop = loop;
    }

    void send(Frame frame, SealedBuffer handle, CompletableFuture<Delivery> completion) {
        Outgoing send = new Outgoing(frame, handle, completion);
        try {
            loop.execute(() -> sendOnLoop(send));
        } catch (RejectedExecutionException loopIsDown) {
            send.fail(PeerFailedException.of(peer, loopIsDown));
        }
    }

    void close() {
        try {
            loop.execute(() -> {
                state = State.CLOSED;
                failWaiting(closed());
                if (channel != null) {
                    channel.close();
                }
            });
        } catch (RejectedExecutionException loopIsDown) {
            return;
        }
    }

    private void sendOnLoop(Outgoing send) {
        switch (state) {
            case OPEN -> write(send);
            case CLOSED -> send.fail(closed());
            case CONNECTING -> waiting.add(send);
            case IDLE -> {
                waiting.add(send);
                connect();
            }
        }
    }

    private void connect() {
        SocketAddress address;
        try {
            address = node.addressOf(peer);
        } catch (IOException nowhere) {
            failed(PeerFailedException.of(peer, nowhere));
            return;
        }
        state = State.CONNECTING;
        ChannelFuture connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.ALLOCATOR, node.allocator())
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) throws IOException {
                        node.install(fresh, peer);
                    }
                })
                .connect(address);
        channel = connecting.channel();
        connecting.addListener(done -> connected(connecting));
    }

    private void connected(ChannelFuture connecting) {
        if (!connecting.isSuccess()) {
            failed(PeerFailedException.of(peer, connecting.cause()));
            return;
        }
        channel.closeFuture().addListener(done -> failed(new PeerFailedException(peer, "connection closed", null)));
        if (state == State.CLOSED) {
            channel.close();
            return;
        }
        state = State.OPEN;
        channel.write(header(new Frame(Frame.Kind.HELLO, 0, node.rank(), Optional.empty(), 0)));
        for (Outgoing send = waiting.poll(); send != null; send = waiting.poll()) {
            write(send);
        }
        channel.flush();
    }

    private void write(Outgoing send) {
        ChannelFuture written;
        try {
            written = SealedWrite.write(channel, header(send.frame()), send.handle());
        } catch (RuntimeException refused) {
            send.fail(PeerFailedException.of(peer, refused));
            return;
        }
        written.addListener(done -> {
            if (done.isSuccess()) {
                send.completion()
                        .complete(new Delivery(
                                peer, send.frame().tag(), send.frame().length()));
            } else {
                send.completion().completeExceptionally(PeerFailedException.of(peer, done.cause()));
            }
        });
    }

    private ByteBuf header(Frame frame) {
        ByteBuf header = channel.alloc().directBuffer(Frame.BYTES, Frame.BYTES);
        frame.writeTo(header);
        return header;
    }

    private void failed(PeerFailedException failure) {
        if (state != State.CLOSED) {
            state = State.IDLE;
            channel = null;
            failWaiting(failure);
            node.peerLost(peer, failure);
        }
    }

    private void failWaiting(PeerFailedException failure) {
        for (Outgoing send = waiting.poll(); send != null; send = waiting.poll()) {
            send.fail(failure);
        }
    }

    private PeerFailedException closed() {
        return new PeerFailedException(peer, "this node is closed", null);
    }
}
