// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.internal.bypass.FormerLoans;
import io.bulla.runtime.oob.internal.bypass.LocalLink;
import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// One channel to a peer, and whom it was found to belong to.
///
/// ```
/// GREETING --hello either way--> OPEN --end, silence, error----------------------------------------> OVER
///                                  +---goodbye---> LEAVING --the peer closes, or has not in time----^
/// a hello's deadline ends GREETING, too
/// ```
///
/// In GREETING nothing but a hello or a refusal is read, which are small; in LEAVING nothing but a goodbye. All on
/// the channel's event loop, which is the node's.
public final class Connection extends ChannelDuplexHandler implements LocalLink.Owner, ControlQueue.Out {

    /// The peer of a connection, as that needs it. On the loop.
    public interface Owner extends FrameSink {

        /// What stays of what its connections have lent.
        FormerLoans local();

        /// An acknowledgement: all that has arrived, and the credit.
        Frame acknowledgement();

        /// @return whether there was something
        boolean writeNotices(Connection out);

        /// Whether this node and the peer do not go on from the same moment.
        ///
        /// @return what is wrong, or `null`
        @Nullable
        String otherCheckpoint(Hello hello, @Nullable RestoredFrom theirs);

        /// A hello on a connection that the peer opened.
        void onHello(Connection fresh, Hello hello) throws IOException;

        /// A hello on a connection that this node opened.
        void onAnswer(Connection fresh, Hello hello) throws IOException;

        /// @param incarnation of the process that refuses; 0 if it does not say
        void onRefusal(Connection fresh, Refusal reason, long incarnation, String text);

        /// Something of the peer has arrived.
        void onHeard(long loopTime);

        /// The channel takes more.
        void pump();

        /// Ends one send, which cannot be written.
        void end(PendingSend send, Throwable failure);

        /// The connection is over.
        void onLost(Connection over, Throwable cause);
    }

    public enum Stage {
        GREETING,
        OPEN,
        LEAVING,
        OVER
    }

    /// For the peer to hear a goodbye.
    private static final long HEARD_NANOS = 1_000_000_000;

    private static final byte[] NO_BYTES = {};

    private final LoopContext context;
    private final Door door;
    private final Channel channel;
    private final boolean dialed;
    private final ControlQueue owed = new ControlQueue(this);
    private final Supplier<Frame> acknowledgement = () -> owner().acknowledgement();
    private final HelloDeadline greeting;
    private Stage stage = Stage.GREETING;
    private @Nullable Owner owner;
    private @Nullable Throwable why;
    private @Nullable Rendezvous rendezvous;
    private byte @Nullable [] offered;
    private boolean flushing;
    private boolean quiet;
    private long heardAt;
    private long lastWrite;
    private @Nullable LocalLink local;

    /// @param dialed whom it was dialed to, or `null` if it was accepted
    /// @param helloNanos time for the other side to say hello
    public Connection(LoopContext context, Door door, Channel channel, @Nullable Owner dialed, long helloNanos) {
        this.context = context;
        this.door = door;
        this.channel = channel;
        this.owner = dialed;
        this.dialed = dialed != null;
        this.lastWrite = context.now();
        this.greeting = new HelloDeadline(context, channel.eventLoop(), helloNanos, this::fail);
    }

    @Override
    public Channel channel() {
        return channel;
    }

    public boolean isDialed() {
        return dialed;
    }

    Stage stage() {
        return stage;
    }

    boolean isGreeting() {
        return stage == Stage.GREETING;
    }

    boolean isOpen() {
        return stage == Stage.OPEN;
    }

    boolean isLeaving() {
        return stage == Stage.LEAVING;
    }

    public boolean isOver() {
        return stage == Stage.OVER;
    }

    /// Whose it is: known once it was dialed, or is OPEN.
    Owner owner() {
        return Objects.requireNonNull(owner, "owner");
    }

    /// Both sides have greeted.
    ///
    /// @param features that the peer has
    public void open(Owner whose, long features) {
        owner = whose;
        stage = Stage.OPEN;
        heardAt = context.loopTime();
        greeting.cancel();
        LocalMemory memory = context.settings().localMemory();
        if (memory != null && (features & Hello.LOCAL) != 0) {
            local = new LocalLink(this, memory, whose.local(), whose.rank());
            local.begin();
        }
    }

    /// The lending of the two ends, or `null`: bytes alone go.
    @Nullable
    public LocalLink local() {
        return local;
    }

    LocalLink agreedLocal() throws IOException {
        LocalLink link = local;
        if (link == null) {
            throw new IOException("memory is not lent on this connection: peer=" + owner().rank());
        }
        return link;
    }

    @Override
    public void words(Frame.Kind kind, byte[] words) {
        write(Frame.control(kind, 0, context.settings().rank(), words.length), words);
    }

    /// @param from which checkpoint this node goes on, or `null`
    /// @param offer ended with this connection; or `null`
    public void hello(Hello hello, @Nullable RestoredFrom from, @Nullable Rendezvous offer) {
        rendezvous = offer;
        byte[] origin = from == null ? NO_BYTES : from.part();
        byte[] more = offer == null ? NO_BYTES : offer.offer();
        int length = Hello.BYTES + origin.length + more.length;
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES + length);
        Frame.control(Frame.Kind.HELLO, 0, hello.rank(), length).writeTo(out);
        hello.writeTo(out);
        channel.write(out.writeBytes(origin).writeBytes(more));
        flushNow();
        if (stage == Stage.OVER) {
            endRendezvous();
        }
    }

    /// The offer of this side, or `null`.
    @Nullable
    public Rendezvous rendezvous() {
        return rendezvous;
    }

    /// Both sides have greeted, and may have offered something.
    public void meet() {
        if (rendezvous != null) {
            rendezvous.meet(offered);
        }
    }

    /// The peer can write no more beside this connection.
    public void endRendezvous() {
        if (rendezvous != null) {
            rendezvous.close();
        }
    }

    /// Says why, and ends.
    public void refuse(Refusal reason, String text) {
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, Hello.MOST);
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES + length);
        Frame.refusal(reason, context.settings().rank(), context.incarnation(), length)
                .writeTo(out);
        channel.write(out.writeBytes(words, 0, length));
        flushNow();
        quiet = reason == Refusal.OTHER_CONNECTION || reason == Refusal.SESSION_OVER || reason == Refusal.CLOSING;
        fail(new IOException(text));
    }

    /// Says goodbye, and ends once the peer has closed, or a second later.
    ///
    /// Not at once: then the machine answers what the peer still sends with a reset, and a peer that meets the
    /// reset as it writes reads no goodbye.
    public void bye() {
        if (stage != Stage.OPEN) {
            end();
            return;
        }
        control(Frame.Kind.BYE);
        flushNow();
        if (stage == Stage.OPEN) {
            endRendezvous();
            channel.eventLoop().schedule(this::end, HEARD_NANOS, TimeUnit.NANOSECONDS);
            stage = Stage.LEAVING;
        }
    }

    /// Ends without a word; nothing is wrong with it.
    public void end() {
        quiet = true;
        fail(new IOException("closed by this node"));
    }

    /// Ends, for the peer has said something newer on another connection. Two that call each other at once do
    /// that; who has not proven to be the peer may as well repeat what he has overheard, which is worth a line.
    public void overtaken(String reason) {
        quiet = door.isProven(channel);
        if (quiet) {
            context.debug(reason);
        }
        fail(new IOException(reason));
    }

    /// A hello has arrived.
    ///
    /// @param bulk address of what the peer offers beside the connection, or `null`
    void onHello(Hello hello, byte @Nullable [] bulk, @Nullable RestoredFrom from) throws IOException {
        offered = bulk;
        door.onHello(this, owner, hello, from);
    }

    /// The other side does not take this connection.
    void onRefusal(Refusal reason, long incarnation, String text) {
        if (dialed) {
            owner().onRefusal(this, reason, incarnation, text);
        }
        fail(new IOException("refused: reason=" + reason + " " + text));
    }

    public void fail(Throwable cause) {
        if (why == null) {
            why = cause;
        }
        endRendezvous();
        SureClose.of(channel);
    }

    /// Writes what is owed before anything else.
    ///
    /// @return true if there is something to flush
    boolean writeOwed() {
        if (stage == Stage.LEAVING || !channel.isWritable()) {
            return false;
        }
        // both, not one of them
        return owner().writeNotices(this) | owed.write(acknowledgement);
    }

    /// Writes what is owed, as far as the channel takes it now.
    public void sayOwed() {
        if (writeOwed()) {
            flushNow();
        }
    }

    @Override
    public void flushNow() {
        lastWrite = context.now();
        flushing = true;
        try {
            channel.flush();
        } finally {
            flushing = false;
        }
    }

    /// Says something if nothing was said for long, and ends if nothing was heard for longer.
    ///
    /// @param loopTime time in which the loop turned: one that was held up did not listen either
    public void tick(long now, long loopTime, long heartbeatNanos) {
        if (local != null) {
            local.tick();
        }
        if (loopTime - heardAt > 3 * heartbeatNanos) {
            fail(new SilentPeerException((loopTime - heardAt) / 1_000_000));
        } else if (now - lastWrite >= heartbeatNanos) {
            owed.oweAck();
            sayOwed();
        }
    }

    /// What is to be said to the peer beside the lanes.
    public ControlQueue owed() {
        return owed;
    }

    @Override
    public void control(Frame.Kind kind) {
        control(Frame.control(kind, 0, context.settings().rank(), 0));
    }

    @Override
    public void control(Frame control) {
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES);
        control.writeTo(out);
        channel.write(out);
    }

    @Override
    public void debug(String what) {
        context.debug(what);
    }

    @Override
    public void lent(SealedBuffer piece) {
        context.lent(piece.byteSize());
        context.close(piece);
    }

    /// A message is not taken.
    @Override
    public void reject(Frame frame, String why) {
        byte[] words = why.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, Hello.MOST);
        write(Frame.rejection(context.settings().rank(), frame.lane(), frame.sequence(), length), words);
    }

    public void notice(int topic, byte[] text) {
        write(Frame.control(Frame.Kind.NOTICE, topic, context.settings().rank(), text.length), text);
    }

    private void write(Frame header, byte[] body) {
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES + header.length());
        header.writeTo(out);
        channel.write(out.writeBytes(body, 0, header.length()));
    }

    @Override
    public void write(ChannelHandlerContext handler, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            context.written(bytes.readableBytes());
        }
        handler.write(message, promise);
    }

    /// Writes are flushed by [#flushNow] only: many at a time.
    @Override
    public void flush(ChannelHandlerContext handler) {
        if (flushing) {
            handler.flush();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext handler) {
        heardAt = context.loopTime();
        if (stage == Stage.OPEN) {
            owner().onHeard(heardAt);
            sayOwed();
        }
        handler.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext handler) {
        if (stage == Stage.OPEN && channel.isWritable()) {
            owner().pump();
        }
        handler.fireChannelWritabilityChanged();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext handler, Throwable cause) {
        fail(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext handler) {
        stage = Stage.OVER;
        greeting.cancel();
        if (local != null) {
            local.close();
        }
        endRendezvous();
        Throwable cause = why == null ? new IOException("connection closed") : why;
        if (owner != null) {
            owner.onLost(this, cause);
        } else if (why == null) {
            // it did nothing wrong: it probed the port, or has found another connection meanwhile
            context.debug("connection closed without a word: remote=" + channel.remoteAddress());
        } else if (!quiet) {
            door.onUnknownPeer(channel.remoteAddress(), cause);
        }
    }
}
