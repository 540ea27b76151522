// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.internal.bypass.LocalLink;
import io.bulla.runtime.oob.internal.bypass.Rendezvous;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.Session;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Writes the messages of one session to one connection, as long as the channel takes them: the rest stays in the
/// lanes.
///
/// Small messages go first, and between the fragments of a bulk message; but
///
/// - a bulk message is not begun before the small ones that were queued before it, so that none of its own tag is
///   overtaken;
/// - once it may begin, it has its turn after each fragment's worth of small ones.
///
/// A message of fewer than [Settings#coalesceBelow] bytes is copied behind its header into a batch, which costs
/// less than a view of it would; all others are written where they are.
public final class Writer {

    private static final int ROUNDS = 16;

    private final Connection connection;
    private final Channel channel;
    private final Session session;
    private final Settings settings;
    private final @Nullable Rendezvous rendezvous;
    private @Nullable Batch batch;
    private long smallRun;
    // of the message that is written next
    private @Nullable SealedBuffer piece;
    private boolean started;
    private boolean pumping;
    private boolean paused;
    private boolean asked;
    // of which [#choose] found something
    private Lane chosen;

    /// @param rendezvous beside the connection, or `null`
    public Writer(Connection connection, Session session, Settings settings, @Nullable Rendezvous rendezvous) {
        this.rendezvous = rendezvous;
        this.connection = connection;
        this.channel = connection.channel();
        this.session = session;
        this.settings = settings;
        this.chosen = session.control;
    }

    /// Nothing of a lane is written until this is undone.
    public void pause(boolean pause) {
        paused = pause;
    }

    /// Whether the lanes wait, at last for the RESUME to be written.
    public boolean isPaused() {
        return paused || connection.owed().owesResume();
    }

    /// Writes from now on; until here the session is being brought in line with what the peer has.
    public void start() {
        started = true;
        pump();
    }

    /// Writes what there is, and flushes it.
    public void pump() {
        // a flush may tell that the channel is writable again
        if (pumping || !started || connection.isOver()) {
            return;
        }
        pumping = true;
        try {
            for (int round = 0; round < ROUNDS; round++) {
                boolean acked = connection.writeOwed();
                boolean wrote = !isPaused() && writeSome();
                if (!wrote && !acked && !asksForCredit()) {
                    return;
                }
                asked &= !wrote;
                connection.flushNow();
            }
            // others' turn
            channel.eventLoop().execute(this::pumpOn);
        } catch (Throwable broken) {
            dropBatch();
            throw broken;
        } finally {
            pumping = false;
        }
    }

    private void dropBatch() {
        Batch half = batch;
        batch = null;
        if (half != null) {
            half.release();
        }
    }

    /// As [#pump()], of the loop itself, which logs what is thrown and goes on.
    private void pumpOn() {
        try {
            pump();
        } catch (Throwable broken) {
            // what was half written cannot be gone on with
            connection.fail(broken);
        }
    }

    /// What cannot go for want of credit says so, once until something goes.
    private boolean asksForCredit() {
        if (asked || isPaused() || !session.isBlocked()) {
            return false;
        }
        asked = true;
        connection.owed().oweAck();
        return true;
    }

    /// More credit was granted, perhaps not enough.
    public void granted() {
        asked = false;
    }

    private boolean writeSome() {
        boolean some = false;
        for (PendingSend send = choose(); send != null && channel.isWritable(); send = choose()) {
            some = true;
            Lane lane = chosen;
            if (send.skipped) {
                skip(lane, send);
            } else if (rendezvous != null && lane == session.bulk && goesBeside(rendezvous, send)) {
                beside(rendezvous, send);
            } else if (isPrepared(send)) {
                write(lane, send);
            }
        }
        endBatch();
        return some;
    }

    /// What is written next, and its lane in [#chosen]; `null` if nothing can be.
    private @Nullable PendingSend choose() {
        PendingSend confirmation = session.control.head(settings.fragment());
        if (confirmation != null) {
            chosen = session.control;
            return confirmation;
        }
        PendingSend small = session.small.head(settings.fragment());
        PendingSend bulk = session.bulk.headBehind(session.small, settings.fragment());
        if (bulk != null && rendezvous != null && rendezvous.isWaiting(bulk.sequence, bulk.skipped)) {
            bulk = null;
        }
        if (small == null || bulk != null && smallRun >= settings.fragment()) {
            chosen = session.bulk;
            return bulk;
        }
        chosen = session.small;
        return small;
    }

    /// Takes the handle of what is written next, before anything of it is on the wire.
    ///
    /// @return false if that cannot be had: the send has failed then, and no other
    private boolean isPrepared(PendingSend send) {
        if (isCoalesced(send)) {
            return true;
        }
        try {
            LocalLink local = connection.local();
            piece = local == null
                    ? send.piece(settings.fragment())
                    : local.piece(send.bytes - send.offset, settings.fragment(), send::piece);
            return true;
        } catch (Throwable noHandle) {
            connection.owner().end(send, noHandle);
            return false;
        }
    }

    private static boolean goesBeside(Rendezvous way, PendingSend send) {
        return way.isWritten(send.sequence)
                || send.offset == 0 && way.takes(send.kind, send.sequence, send.bytes, send.handle);
    }

    /// A message that goes beside the connection: it asks for memory, and in the end says that all is
    /// there.
    private void beside(Rendezvous way, PendingSend send) {
        Lane lane = session.bulk;
        if (way.isWritten(send.sequence)) {
            endBatch();
            tellWritten(announce(Frame.Kind.FINISHED, send, send.bytes), send);
            way.over(send.sequence);
            send.offset = send.bytes;
            lane.written(send);
            return;
        }
        SealedBuffer own;
        try {
            own = Objects.requireNonNull(send.handle, "handle").share();
        } catch (Throwable noHandle) {
            connection.owner().end(send, noHandle);
            return;
        }
        endBatch();
        lane.begin(send);
        way.asked(send.sequence, own);
        announce(Frame.Kind.REQUEST, send, 0);
    }

    private ChannelFuture announce(Frame.Kind kind, PendingSend send, long offset) {
        ByteBuf header = header(0);
        Frame.write(
                header,
                kind,
                send.mark(),
                send.tag,
                send.origin(),
                send.sequence,
                offset,
                send.bytes,
                send.session(),
                send.number(),
                0,
                Lane.BULK);
        return channel.write(header);
    }

    private boolean isCoalesced(PendingSend send) {
        return send.bytes < settings.coalesceBelow() && !send.isLanding();
    }

    private void skip(Lane lane, PendingSend send) {
        endBatch();
        if (rendezvous != null && lane == session.bulk) {
            rendezvous.over(send.sequence);
        }
        ByteBuf header = header(0);
        Frame.write(
                header,
                Frame.Kind.SKIP,
                0,
                0,
                settings.rank(),
                send.sequence,
                send.bytes,
                send.bytes,
                0,
                0,
                0,
                lane.code);
        channel.write(header);
        lane.written(send);
    }

    private void write(Lane lane, PendingSend send) {
        boolean asked = rendezvous != null && lane == session.bulk && rendezvous.isRefused(send.sequence);
        if (send.offset == 0 && !asked) {
            lane.begin(send);
        }
        long length = send.bytes;
        if (isCoalesced(send)) {
            if (!coalesce(lane, send)) {
                return;
            }
        } else {
            SealedBuffer taken = Objects.requireNonNull(piece, "piece");
            length = taken.byteSize();
            ChannelFuture written = write(lane, send, taken);
            if (send.offset + length == send.bytes) {
                tellWritten(written, send);
            }
        }
        smallRun = lane == session.small ? smallRun + Frame.BYTES + length : 0;
        send.offset += length;
        if (send.offset == send.bytes) {
            lane.written(send);
        }
    }

    /// Writes a piece behind its header, and takes it over, also if there is no memory for the header.
    private ChannelFuture write(Lane lane, PendingSend send, SealedBuffer taken) {
        boolean given = false;
        try {
            endBatch();
            LocalLink local = connection.local();
            boolean placed = local != null && local.isPlaced();
            ByteBuf header = header(placed ? Frame.PLACE : 0);
            ByteBuffer bytes = header.internalNioBuffer(0, Frame.BYTES);
            Batch.header(bytes, bytes.position(), lane, send, (int) taken.byteSize());
            header.writerIndex(Frame.BYTES);
            given = true;
            return local != null && placed ? local.write(header, taken) : SealedWrite.move(channel, header, taken);
        } finally {
            if (!given) {
                taken.close();
            }
        }
    }

    /// The last of a message is on its way to the channel.
    private void tellWritten(ChannelFuture written, PendingSend send) {
        if (send.options.level() == Delivery.Status.WRITTEN) {
            written.addListener(done -> {
                if (done.isSuccess()) {
                    send.reached(Delivery.Status.WRITTEN, settings.environment().now());
                }
            });
        }
    }

    /// @return false if its bytes cannot be read: the send has failed then, and no other
    private boolean coalesce(Lane lane, PendingSend send) {
        int length = (int) send.bytes;
        if (batch != null && !batch.hasRoom(Frame.BYTES + length)) {
            endBatch();
        }
        if (batch == null) {
            batch = new Batch(channel.alloc(), Frame.BYTES + length, lane.waiting());
        }
        try {
            batch.add(send, lane);
            return true;
        } catch (Throwable noBytes) {
            connection.owner().end(send, noBytes);
            return false;
        }
    }

    private ByteBuf header(int more) {
        return channel.alloc().directBuffer(Frame.BYTES + more, Frame.BYTES + more);
    }

    private void endBatch() {
        Batch full = batch;
        batch = null;
        if (full != null) {
            full.writeTo(channel, settings.rank(), settings.environment());
        }
    }
}
