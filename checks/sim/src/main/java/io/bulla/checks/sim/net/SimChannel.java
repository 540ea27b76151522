// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.net;

import io.bulla.checks.sim.world.World;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelId;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/// A socket of the simulated network: it takes what there is room for, and reads come in pieces.
public final class SimChannel extends AbstractChannel implements Net.Endpoint {

    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final int READS = 16;
    private static final int KIND = 5;
    private static final int REASON = 8;
    private static final int LENGTH = 56;

    /// Netty's own is random, and orders a group of channels.
    private record Id(int number) implements ChannelId {

        @Override
        public String asShortText() {
            return "sim-" + number;
        }

        @Override
        public String asLongText() {
            return asShortText();
        }

        @Override
        public int compareTo(ChannelId other) {
            return Integer.compare(number, ((Id) other).number);
        }
    }

    private final ChannelConfig config = new Config(this);
    private final Queue<ByteBuf> inbox = new ArrayDeque<>();
    private Net net;
    private int host;
    private InetSocketAddress local;
    private InetSocketAddress remote;
    private Pipe out;
    private ChannelPromise connecting;
    private boolean active;
    private boolean open = true;
    private boolean wantsRead;
    private boolean fin;
    private boolean reset;
    private boolean full;
    private final ByteBuffer firstHeader = ByteBuffer.allocate(Frame.BYTES);
    private long received;

    /// One that connects; Netty makes it.
    public SimChannel() {
        super(null);
    }

    /// One that was accepted.
    SimChannel(Channel parent, Net net, int host, int from) {
        super(parent);
        this.net = net;
        this.host = host;
        this.local = Net.address(host);
        this.remote = Net.address(from);
        this.active = true;
    }

    static ChannelId freshId() {
        return new Id(World.current().nextChannel());
    }

    static boolean isTcpOption(ChannelOption<?> option) {
        return option == ChannelOption.TCP_NODELAY || option == ChannelOption.SO_BACKLOG;
    }

    private SimProcess node() {
        return ((SimLoop) eventLoop()).node();
    }

    @Override
    protected ChannelId newId() {
        return freshId();
    }

    @Override
    public Pipe out() {
        return out;
    }

    @Override
    public boolean isGone() {
        return !open || node().isKilled();
    }

    @Override
    public void connected(Pipe pipe) {
        out = pipe;
    }

    @Override
    public void bytes(ByteBuf bytes) {
        if (!open) {
            bytes.release();
            return;
        }
        inbox.add(bytes);
        later(this::take);
    }

    @Override
    public void fin() {
        fin = true;
        later(this::take);
    }

    @Override
    public void reset() {
        reset = true;
        dropInbox();
        later(this::take);
    }

    @Override
    public void writable() {
        later(() -> ((Unsafe0) unsafe()).flushAgain());
    }

    private void later(Runnable task) {
        if (isRegistered() && open) {
            eventLoop().execute(task);
            node().poke();
        }
    }

    private void take() {
        if (!open || !active || !wantsRead && !reset) {
            return;
        }
        int reads = 0;
        for (ByteBuf piece = inbox.poll(); piece != null; piece = ++reads < READS && open ? inbox.poll() : null) {
            wantsRead = false;
            int length = piece.readableBytes();
            node().read(length);
            hear(piece, length);
            out.reverse.consumed(length);
            pipeline().fireChannelRead(net.wire.arrived(piece, alloc()));
        }
        if (reads > 0 && open) {
            pipeline().fireChannelReadComplete();
        }
        if (open && reset) {
            pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
            unsafe().close(voidPromise());
        } else if (open && fin && inbox.isEmpty()) {
            unsafe().close(voidPromise());
        } else if (open && !inbox.isEmpty()) {
            later(this::take);
        }
    }

    /// A peer is heard once its whole hello is there, or its whole word that a session is over.
    private void hear(ByteBuf piece, int length) {
        received += length;
        int missing = Math.min(firstHeader.remaining(), length);
        piece.getBytes(piece.readerIndex(), firstHeader.limit(firstHeader.position() + missing));
        firstHeader.limit(Frame.BYTES);
        if (firstHeader.hasRemaining() || received < Frame.BYTES + firstHeader.getInt(LENGTH)) {
            return;
        }
        int kind = firstHeader.get(KIND);
        boolean over =
                kind == Frame.Kind.REFUSE.ordinal() && firstHeader.getInt(REASON) == Refusal.SESSION_OVER.ordinal();
        if (kind == Frame.Kind.HELLO.ordinal() || over) {
            node().heard(Net.host(remote));
        }
    }

    @Override
    protected void doBeginRead() {
        wantsRead = true;
        if (!inbox.isEmpty() || fin || reset) {
            later(this::take);
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer buffer) throws IOException {
        if (reset || !out.isOpen() && fin) {
            throw new IOException("Broken pipe");
        }
        for (Object message = buffer.current(); message != null; message = buffer.current()) {
            ByteBuf bytes = (ByteBuf) message;
            int taken = write(bytes);
            if (bytes.isReadable() && taken == 0 && out.isOpen()) {
                full = true;
                return;
            }
            if (taken == 0 && bytes.isReadable()) {
                // into a connection that has ended without this end knowing
                taken = bytes.readableBytes();
            }
            if (taken == 0) {
                buffer.remove();
            } else {
                buffer.removeBytes(taken);
            }
        }
    }

    private int write(ByteBuf bytes) {
        if (!bytes.isReadable()) {
            return 0;
        }
        node().wrote(Math.min(bytes.readableBytes(), out.free()));
        return out.write(bytes);
    }

    @Override
    protected void doClose() {
        open = false;
        active = false;
        if (connecting != null) {
            connecting.tryFailure(new ClosedChannelException());
            connecting = null;
        }
        if (out != null) {
            if (inbox.isEmpty()) {
                out.finish();
            } else {
                out.abort();
            }
            net.host(host).endpoints.remove(this);
        }
        dropInbox();
    }

    private void dropInbox() {
        inbox.forEach(ByteBuf::release);
        inbox.clear();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Unsafe0();
    }

    private final class Unsafe0 extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress to, SocketAddress from, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            SimProcess node = node();
            net = node.net();
            host = node.rank();
            local = Net.address(host);
            remote = (InetSocketAddress) to;
            connecting = promise;
            eventLoop().schedule(this::tooLate, config.getConnectTimeoutMillis(), TimeUnit.MILLISECONDS);
            net.connect(
                    SimChannel.this, host, Net.host(remote), () -> ready(this::done), why -> ready(() -> refused(why)));
        }

        private void ready(Runnable task) {
            if (open) {
                later(task);
            }
        }

        private void tooLate() {
            if (connecting != null) {
                net.sights.see("connection timed out");
                fail(new ConnectTimeoutException("connection timed out: remote=" + remote));
            }
        }

        private void refused(String why) {
            if (connecting != null) {
                fail(new ConnectException(why + ": " + remote));
            }
        }

        private void fail(Exception why) {
            ChannelPromise promise = connecting;
            connecting = null;
            promise.tryFailure(why);
            closeIfOpen();
        }

        private void closeIfOpen() {
            if (open) {
                close(voidPromise());
            }
        }

        private void done() {
            if (connecting == null || !open) {
                return;
            }
            ChannelPromise promise = connecting;
            connecting = null;
            active = true;
            if (promise.trySuccess()) {
                pipeline().fireChannelActive();
            } else {
                close(voidPromise());
            }
        }

        @Override
        protected void flush0() {
            if (!full) {
                super.flush0();
            }
        }

        void flushAgain() {
            full = false;
            if (open && active) {
                super.flush0();
            }
        }
    }

    private static final class Config extends DefaultChannelConfig {

        Config(Channel channel) {
            super(channel);
        }

        @Override
        public <T> boolean setOption(ChannelOption<T> option, T value) {
            return isTcpOption(option) || super.setOption(option, value);
        }
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return active;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimLoop;
    }

    @Override
    protected SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return remote;
    }

    @Override
    protected void doBind(SocketAddress address) {
        throw new UnsupportedOperationException("a client is not bound here");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }
}
