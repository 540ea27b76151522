// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.FrameFormat;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.Refusal;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads the frames of one connection, and gives each to whom it is for. One event loop's.
public final class FrameDispatch implements FrameFormat {

    private final LoopContext context;
    private final Connection connection;
    private final BatchReader batches;
    private @Nullable Frame frame;
    // there was no room: what the peer sends in its lanes is dropped
    private boolean droppingUntilResume;

    public FrameDispatch(LoopContext context, Connection connection) {
        this.context = context;
        this.connection = connection;
        this.batches = new BatchReader(context, connection::isOpen);
    }

    @Override
    public int headerBytes() {
        return Frame.BYTES;
    }

    @Override
    public long bodyBytes(ByteBuffer header) throws IOException {
        Frame read = Frame.read(header, context.settings().limit());
        boolean greeting = read.kind() == Frame.Kind.HELLO || read.kind() == Frame.Kind.REFUSE;
        if (greeting != connection.isGreeting()) {
            throw new IOException("frame at the wrong time: kind=" + read.kind() + " stage=" + connection.stage());
        }
        if (greeting && read.length() > Hello.MOST) {
            throw new IOException("hello over the limit: length=" + read.length() + " limit=" + Hello.MOST);
        }
        frame = read;
        if (connection.isOpen() && !(droppingUntilResume && isOfLanes())) {
            FrameSink peer = connection.owner();
            peer.check(read);
            droppingUntilResume |= peer.owesTooMany(read);
        }
        return read.bodyBytes();
    }

    /// What comes while there was no memory comes again. A place is read nevertheless: its lease has to end.
    @Override
    public boolean wantsBody() {
        if (connection.isLeaving()) {
            return arriving().kind() == Frame.Kind.BYE;
        }
        return !droppingUntilResume || !isOfLanes() || arriving().local();
    }

    @Override
    public boolean skipsWithoutMemory(RuntimeException why) {
        boolean skips = connection.isOpen() && isOfLanes();
        if (skips) {
            droppingUntilResume = true;
            connection.owner().onMemoryShortage(arriving(), why);
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

    @Override
    public void frameMoved(ChannelHandlerContext channel, ByteBuffer header, SealedBuffer body) {
        Frame read = arriving();
        if (connection.isOver()) {
            body.close();
            return;
        }
        if (connection.isLeaving()) {
            body.close();
            if (read.kind() == Frame.Kind.BYE) {
                connection.end();
            }
            return;
        }
        try {
            if (read.kind() == Frame.Kind.DIRECT || read.kind() == Frame.Kind.BROADCAST) {
                connection.owed().oweAck();
                if (read.local()) {
                    placed(read, body);
                } else {
                    FrameSink peer = connection.owner();
                    peer.onFrame(read, BatchReader.tagged(body, peer.tag()));
                }
                return;
            }
            try (body) {
                if (read.kind() == Frame.Kind.BATCH) {
                    connection.owed().oweAck();
                    if (!batches.read(body, connection.owner())) {
                        droppingUntilResume = true;
                    }
                } else {
                    control(read, body);
                }
            }
        } catch (IOException broken) {
            connection.fail(broken);
        }
    }

    /// A fragment in memory of the peer's, and ownership of the place that was said.
    private void placed(Frame read, SealedBuffer place) throws IOException {
        SealedBuffer piece;
        try (place) {
            piece = connection.agreedLocal().open(read, place);
        }
        if (droppingUntilResume) {
            // it comes again
            piece.close();
        } else {
            FrameSink peer = connection.owner();
            peer.onFrame(read, BatchReader.tagged(piece, peer.tag()));
        }
    }

    private void control(Frame read, SealedBuffer body) throws IOException {
        switch (read.kind()) {
            case HELLO -> connection.onHello(Hello.read(body), BulkOffer.read(body), RestoredFrom.read(body));
            case REFUSE -> connection.onRefusal(Refusal.of(read.tag()), read.session(), text(body));
            case ACK -> connection.owner().onCredit(read);
            case RETRY -> connection.owner().onRetry();
            case RESUME -> droppingUntilResume = false;
            case REJECT -> connection.owner().onReject(read, text(body));
            case NOTICE -> connection.owner().onNotice(read.tag(), body.toByteArray());
            case INVITE -> connection.agreedLocal().invited(body);
            case PROOF -> connection.agreedLocal().proven(body);
            case BYE -> connection.owner().onBye();
            case REQUEST -> {
                // what comes while there was no memory comes again
                if (!droppingUntilResume) {
                    connection.owner().onRendezvous(read);
                }
            }
            // an answer comes once, and takes no memory
            case CLEAR -> connection.owner().onRendezvous(read);
            case SKIP, CONFIRM, FINISHED -> {
                connection.owed().oweAck();
                connection.owner().onFrame(read, body.share());
            }
            default -> throw new IllegalStateException("not a control frame: kind=" + read.kind());
        }
    }

    /// Printable, for it comes from an unauthenticated peer.
    private static String text(SealedBuffer body) {
        return body.toString(StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "?");
    }
}
