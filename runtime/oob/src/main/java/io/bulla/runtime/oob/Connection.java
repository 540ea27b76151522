// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.FrameFormat;
import io.bulla.iovec.IoVec;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
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
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// One channel to a peer, and whom it was found to belong to.
///
/// ```
/// GREETING --hello either way--> OPEN --end, silence, error--> OVER      a hello's deadline ends GREETING, too
/// ```
///
/// In GREETING nothing but a hello or a refusal is read, which are small. All on the channel's event loop,
/// which is the node's.
final class Connection extends ChannelDuplexHandler implements FrameFormat, LocalLink.Owner, ControlQueue.Out {

    private enum Stage {
        GREETING,
        OPEN,
        OVER
    }

    private static final byte[] NO_BYTES = {};

    private final NodeLoop nodeLoop;
    private final Channel channel;
    private final boolean dialed;
    private final long begun;
    private final long helloNanos;
    private final ControlQueue owed = new ControlQueue(this);
    private final Supplier<Frame> acknowledgement = () -> peer().acknowledgement();
    private Future<?> deadline;
    private Stage stage = Stage.GREETING;
    private @Nullable Peer peer;
    private @Nullable Throwable why;
    private @Nullable Frame frame;
    private @Nullable Rendezvous rendezvous;
    private byte @Nullable [] offered;
    private boolean flushing;
    private boolean deaf;
    private boolean quiet;
    private long heardAt;
    private long lastWrite;
    private @Nullable LocalLink local;

    /// @param peer whom it was dialed to, or `null` if it was accepted
    /// @param helloNanos time for the other side to say hello
    Connection(NodeLoop nodeLoop, Channel channel, @Nullable Peer peer, long helloNanos) {
        this.nodeLoop = nodeLoop;
        this.channel = channel;
        this.peer = peer;
        this.dialed = peer != null;
        this.lastWrite = nodeLoop.now();
        this.begun = nodeLoop.awake();
        this.helloNanos = helloNanos;
        this.deadline = channel.eventLoop().schedule(this::noHello, helloNanos, TimeUnit.NANOSECONDS);
    }

    /// A loop that was held up did not listen either, so it waits as long again.
    private void noHello() {
        long left = helloNanos - (nodeLoop.awake() - begun);
        if (left > helloNanos / 4) {
            deadline = channel.eventLoop().schedule(this::noHello, left, TimeUnit.NANOSECONDS);
        } else {
            fail(new IOException("no hello in time: millis=" + helloNanos / 1_000_000));
        }
    }

    /// For a line that a person reads.
    static String address(Channel channel) {
        return channel.remoteAddress() instanceof InetSocketAddress internet && internet.getAddress() != null
                ? internet.getAddress().getHostAddress() + ":" + internet.getPort()
                : String.valueOf(channel.remoteAddress());
    }

    @Override
    public Channel channel() {
        return channel;
    }

    boolean isDialed() {
        return dialed;
    }

    boolean isOver() {
        return stage == Stage.OVER;
    }

    /// Both sides have greeted.
    ///
    /// @param features that the peer has
    void open(Peer whose, long features) {
        peer = whose;
        stage = Stage.OPEN;
        heardAt = nodeLoop.awake();
        deadline.cancel(false);
        LocalMemory memory = nodeLoop.settings().localMemory();
        if (memory != null && (features & Hello.LOCAL) != 0) {
            local = new LocalLink(this, memory, whose.local(), whose.rank());
            local.begin();
        }
    }

    /// What the two ends lend each other, or `null`: bytes alone go.
    @Nullable
    LocalLink local() {
        return local;
    }

    private LocalLink agreedLocal() throws IOException {
        LocalLink link = local;
        if (link == null) {
            throw new IOException("memory is not lent on this connection: peer=" + peer().rank());
        }
        return link;
    }

    @Override
    public void words(Frame.Kind kind, byte[] words) {
        write(Frame.control(kind, 0, nodeLoop.settings().rank(), words.length), words);
    }

    /// @param from which checkpoint this node goes on, or `null`
    /// @param offer ended with this connection; or `null`
    void hello(Hello hello, @Nullable RestoredFrom from, @Nullable Rendezvous offer) {
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

    /// Both sides have greeted, and may have offered something.
    ///
    /// @return `null` if this side has not
    @Nullable
    Rendezvous meet() {
        if (rendezvous != null) {
            rendezvous.meet(offered);
        }
        return rendezvous;
    }

    /// The peer can write no more beside this connection.
    void endRendezvous() {
        if (rendezvous != null) {
            rendezvous.close();
        }
    }

    /// Says why, and ends.
    void refuse(Refusal reason, String text) {
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, Hello.MOST);
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES + length);
        Frame.refusal(reason, nodeLoop.settings().rank(), nodeLoop.life(), length)
                .writeTo(out);
        channel.write(out.writeBytes(words, 0, length));
        flushNow();
        quiet = reason == Refusal.OTHER_CONNECTION || reason == Refusal.SESSION_OVER || reason == Refusal.CLOSING;
        fail(new IOException(text));
    }

    void bye() {
        if (stage == Stage.OPEN) {
            control(Frame.Kind.BYE);
            flushNow();
        }
        end();
    }

    /// Ends without a word; nothing is wrong with it.
    void end() {
        quiet = true;
        fail(new IOException("closed by this node"));
    }

    /// Ends one send of the peer's, which cannot be written.
    void end(PendingSend send, Throwable failure) {
        nodeLoop.end(send, failure);
    }

    /// Ends, for the peer has said something newer on another connection. Two that call each other at once do
    /// that; who has not proven to be the peer may as well repeat what he has overheard, which is worth a line.
    void overtaken(String reason) {
        quiet = nodeLoop.acceptor().isProven(channel);
        if (quiet) {
            nodeLoop.debug(reason);
        }
        fail(new IOException(reason));
    }

    void fail(Throwable cause) {
        if (why == null) {
            why = cause;
        }
        endRendezvous();
        channel.close();
    }

    /// Writes what is owed before anything else.
    ///
    /// @return true if there is something to flush
    boolean writeOwed() {
        if (!channel.isWritable()) {
            return false;
        }
        // both, not one of them
        return peer().writeNotices(this) | owed.write(acknowledgement);
    }

    /// Writes what is owed, as far as the channel takes it now.
    void sayOwed() {
        if (writeOwed()) {
            flushNow();
        }
    }

    @Override
    public void flushNow() {
        lastWrite = nodeLoop.now();
        flushing = true;
        try {
            channel.flush();
        } finally {
            flushing = false;
        }
    }

    /// Says something if nothing was said for long, and ends if nothing was heard for longer.
    ///
    /// @param awake time in which the loop turned: one that was held up did not listen either
    void tick(long now, long awake, long heartbeatNanos) {
        if (local != null) {
            local.tick();
        }
        if (awake - heardAt > 3 * heartbeatNanos) {
            fail(new IOException("nothing received: millis=" + (awake - heardAt) / 1_000_000));
        } else if (now - lastWrite >= heartbeatNanos) {
            owed.oweAck();
            sayOwed();
        }
    }

    /// What is to be said to the peer beside the lanes.
    ControlQueue owed() {
        return owed;
    }

    @Override
    public void control(Frame.Kind kind) {
        control(Frame.control(kind, 0, nodeLoop.settings().rank(), 0));
    }

    @Override
    public void control(Frame control) {
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES);
        control.writeTo(out);
        channel.write(out);
    }

    @Override
    public void debug(String what) {
        nodeLoop.debug(what);
    }

    @Override
    public void lent(SealedBuffer piece) {
        nodeLoop.lent(piece.byteSize());
        nodeLoop.close(piece);
    }

    /// A message is not taken.
    @Override
    public void reject(Frame frame, String why) {
        byte[] words = why.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(words.length, Hello.MOST);
        write(Frame.rejection(nodeLoop.settings().rank(), frame.lane(), frame.sequence(), length), words);
    }

    void notice(int topic, byte[] text) {
        write(Frame.control(Frame.Kind.NOTICE, topic, nodeLoop.settings().rank(), text.length), text);
    }

    private void write(Frame header, byte[] body) {
        ByteBuf out = channel.alloc().directBuffer(Frame.BYTES + header.length());
        header.writeTo(out);
        channel.write(out.writeBytes(body, 0, header.length()));
    }

    @Override
    public int headerBytes() {
        return Frame.BYTES;
    }

    @Override
    public long bodyBytes(ByteBuffer header) throws IOException {
        Frame read = Frame.read(header, nodeLoop.settings().limit());
        boolean greeting = read.kind() == Frame.Kind.HELLO || read.kind() == Frame.Kind.REFUSE;
        if (greeting != (stage == Stage.GREETING)) {
            throw new IOException("frame at the wrong time: kind=" + read.kind() + " stage=" + stage);
        }
        if (greeting && read.length() > Hello.MOST) {
            throw new IOException("hello over the limit: length=" + read.length() + " limit=" + Hello.MOST);
        }
        frame = read;
        if (!greeting && !(deaf && isOfLanes())) {
            peer().check(read);
            deaf |= peer().owesTooMany(read);
        }
        return read.bodyBytes();
    }

    /// What comes while there was no memory comes again. A place is read nevertheless: its lease has to end.
    @Override
    public boolean wantsBody() {
        return !deaf || !isOfLanes() || arriving().local();
    }

    @Override
    public boolean skipsWithoutMemory(RuntimeException why) {
        boolean skips = stage == Stage.OPEN && isOfLanes();
        if (skips) {
            deaf = true;
            peer().shortOfMemory(arriving(), why);
        }
        return skips;
    }

    /// Whether the bytes that arrive are of what handlers get.
    boolean isMessage() {
        return !arriving().local()
                && switch (arriving().kind()) {
                    case DIRECT, BROADCAST, BATCH -> true;
                    default -> false;
                };
    }

    private boolean isOfLanes() {
        Frame.Kind kind = arriving().kind();
        return kind.isSequenced() || kind == Frame.Kind.BATCH;
    }

    /// The frame of which the header was read last.
    private Frame arriving() {
        return Objects.requireNonNull(frame, "frame");
    }

    /// Whose it is: known once it was dialed, or is OPEN.
    private Peer peer() {
        return Objects.requireNonNull(peer, "peer");
    }

    @Override
    public void frame(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
        Frame read = arriving();
        if (stage == Stage.OVER) {
            body.close();
            return;
        }
        try {
            if (read.kind() == Frame.Kind.DIRECT || read.kind() == Frame.Kind.BROADCAST) {
                owed.oweAck();
                if (read.local()) {
                    placed(read, body);
                } else {
                    peer().received(read, tagged(body));
                }
                return;
            }
            try (body) {
                if (read.kind() == Frame.Kind.BATCH) {
                    unpack(body);
                } else {
                    control(read, body);
                }
            }
        } catch (IOException broken) {
            fail(broken);
        }
    }

    /// A fragment in memory of the peer's, and ownership of the place that was said.
    private void placed(Frame read, SealedBuffer place) throws IOException {
        SealedBuffer piece;
        try (place) {
            piece = agreedLocal().open(read, place);
        }
        if (deaf) {
            // it comes again
            piece.close();
        } else {
            peer().received(read, tagged(piece));
        }
    }

    /// A handle that says whose message it is, in the place of the given one.
    SealedBuffer tagged(SealedBuffer body) {
        Object tag = peer().tags.from();
        if (tag == null) {
            return body;
        }
        // a move that fails leaves the handle open
        try (body) {
            return body.move(tag);
        }
    }

    /// Each message of a batch is a slice of it. All are cut before the first one is handed on: from then on another
    /// thread closes them, and the two would fight for the batch's count.
    private void unpack(SealedBuffer batch) throws IOException {
        owed.oweAck();
        List<Frame> frames = framesOf(batch.iovec());
        SealedBuffer[] bodies = new SealedBuffer[frames.size()];
        int taken = 0;
        try {
            cut(batch, frames, bodies);
            compact(batch, frames, bodies, Frame.Kind.DIRECT);
            compact(batch, frames, bodies, Frame.Kind.BROADCAST);
            while (taken < bodies.length && stage == Stage.OPEN) {
                Frame inner = frames.get(taken);
                peer().check(inner);
                if (peer().owesTooMany(inner)) {
                    // it comes again, and what is behind it
                    deaf = true;
                    return;
                }
                peer().received(inner, bodies[taken++]);
            }
        } finally {
            for (; taken < bodies.length && bodies[taken] != null; taken++) {
                nodeLoop.close(bodies[taken]);
            }
        }
    }

    private static void cut(SealedBuffer batch, List<Frame> frames, SealedBuffer[] bodies) {
        long at = 0;
        for (int i = 0; i < bodies.length; i++) {
            int length = frames.get(i).length();
            bodies[i] = batch.slice(at + Frame.BYTES, length);
            at += Frame.BYTES + length;
        }
    }

    /// What is less than half of its batch gets memory of its own: direct messages wait for handlers, and broadcasts
    /// for
    /// the nodes below, long after their neighbours are gone or were dropped at once.
    private void compact(SealedBuffer batch, List<Frame> frames, SealedBuffer[] bodies, Frame.Kind kind) {
        long left = batch.byteSize() / 2;
        boolean any = false;
        for (Frame frame : frames) {
            if (frame.kind() == kind && peer().isNew(frame)) {
                left -= Frame.BYTES + frame.length();
                any = true;
            }
        }
        if (!any || left <= 0) {
            return;
        }
        for (int i = 0; i < bodies.length; i++) {
            if (frames.get(i).kind() == kind && peer().isNew(frames.get(i))) {
                bodies[i] = ownOf(bodies[i]);
            }
        }
    }

    private SealedBuffer ownOf(SealedBuffer slice) {
        SealedBuffer own;
        try {
            own = tagged(slice.copy(nodeLoop.settings().source()));
        } catch (RuntimeException noMemory) {
            return slice;
        }
        nodeLoop.close(slice);
        return own;
    }

    private List<Frame> framesOf(IoVec batch) throws IOException {
        ByteBuffer view = batch.regionCount() == 1
                ? batch.lent().asByteBuffers()[0]
                : batch.toSegment(Arena.ofAuto()).asByteBuffer().order(ByteOrder.BIG_ENDIAN);
        List<Frame> frames = new ArrayList<>();
        for (int at = 0; at < view.limit(); ) {
            int left = view.limit() - at - Frame.BYTES;
            if (left < 0) {
                throw new IOException("batch ends inside a header: at=" + at + " length=" + view.limit());
            }
            Frame inner = Frame.read(view, at, nodeLoop.settings().limit());
            if (!inner.kind().isSequenced() || inner.local() || inner.length() > left) {
                throw new IOException("not a message of a batch: kind=" + inner.kind() + " length=" + inner.length()
                        + " left=" + left);
            }
            frames.add(inner);
            at += Frame.BYTES + inner.length();
        }
        return frames;
    }

    private void control(Frame read, SealedBuffer body) throws IOException {
        switch (read.kind()) {
            case HELLO -> {
                Hello hello = Hello.read(body);
                offered = BulkOffer.read(body);
                nodeLoop.acceptor().greeted(this, peer, hello, RestoredFrom.read(body));
            }
            case REFUSE -> refused(Refusal.of(read.tag()), read.session(), text(body));
            case ACK -> peer().acknowledged(read);
            case RETRY -> peer().retry();
            case RESUME -> deaf = false;
            case REJECT -> peer().rejected(read, text(body));
            case NOTICE -> nodeLoop.notices().arrived(peer().rank(), read.tag(), body.toByteArray());
            case INVITE -> agreedLocal().invited(body);
            case PROOF -> agreedLocal().proven(body);
            case BYE -> peer().giveUp("it has closed");
            case REQUEST -> {
                // what comes while there was no memory comes again
                if (!deaf) {
                    peer().rendezvous(read);
                }
            }
            // an answer comes once, and takes no memory
            case CLEAR -> peer().rendezvous(read);
            case SKIP, CONFIRM, FINISHED -> {
                owed.oweAck();
                peer().received(read, body.share());
            }
            default -> throw new IllegalStateException("not a control frame: kind=" + read.kind());
        }
    }

    private void refused(Refusal reason, long life, String text) {
        if (dialed) {
            peer().refused(this, reason, life, text);
        }
        fail(new IOException("refused: reason=" + reason + " " + text));
    }

    /// Printable, for it comes from an unauthenticated peer.
    private static String text(SealedBuffer body) {
        return body.toString(StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "?");
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf bytes) {
            nodeLoop.written(bytes.readableBytes());
        }
        context.write(message, promise);
    }

    /// Writes are flushed by [#flushNow] only: many at a time.
    @Override
    public void flush(ChannelHandlerContext context) {
        if (flushing) {
            context.flush();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        heardAt = nodeLoop.awake();
        if (stage == Stage.OPEN) {
            peer().heard(heardAt);
            sayOwed();
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (stage == Stage.OPEN && channel.isWritable()) {
            peer().pump();
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stage = Stage.OVER;
        deadline.cancel(false);
        if (local != null) {
            local.close();
        }
        endRendezvous();
        Throwable cause = why == null ? new IOException("connection closed") : why;
        if (peer != null) {
            peer.lost(this, cause);
        } else if (why == null) {
            // it did nothing wrong: it probed the port, or has found another connection meanwhile
            nodeLoop.debug("connection closed without a word: remote=" + channel.remoteAddress());
        } else if (!quiet) {
            nodeLoop.acceptor().strangerLeft(channel.remoteAddress(), cause);
        }
    }
}
