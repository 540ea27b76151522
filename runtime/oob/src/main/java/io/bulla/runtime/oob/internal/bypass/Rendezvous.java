// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.wire.BulkOffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// Long messages of one connection that go by a bulk line: at most one each way at a time, the first of
/// its lane.
///
/// ```
/// leaving:   IDLE --REQUEST--> ASKED --CLEAR, granted--> WRITING --all there--> WRITTEN
///                                |--CLEAR, refused--> IDLE: it goes by the connection
///            WRITTEN --FINISHED--> IDLE
/// arriving:  none --REQUEST: lands, CLEAR--> landing --FINISHED: sealed, or SKIP--> none
/// ```
///
/// It lasts as long as its connection, and its line with it: a failure of the line ends both, and the
/// session goes on over another connection, from byte 0 of what was not acknowledged. So no byte of an
/// earlier attempt arrives late. Knows numbers of messages, and no peer. One event loop's.
public final class Rendezvous implements AutoCloseable {

    /// Answers to a REQUEST, as the tag of a CLEAR.
    private static final int REFUSED = 0;

    private static final int GRANTED = 1;
    private static final int NO_LINE = 2;
    private static final long NONE = Long.MIN_VALUE;

    // as a frame says it: this class knows no lane
    private static final int BULK = 1;

    private enum Leaving {
        IDLE,
        ASKED,
        WRITING,
        WRITTEN
    }

    /// The connection, as a rendezvous needs it.
    public interface Host {

        /// Writes a frame without a body, and flushes it.
        void say(Frame frame);

        /// Something may go now.
        void pump();

        /// The line has failed, and the connection ends with it.
        void failed(Throwable why);
    }

    private final int rank;
    private final BulkBackoff bulk;
    private final BulkLine line;
    private final Executor loop;
    private final Host host;
    private boolean usable;
    private boolean closed;
    private Leaving leaving = Leaving.IDLE;
    private long sequence = NONE;
    private long refused = NONE;
    private @Nullable SealedBuffer held;
    private @Nullable BulkLanding landing;
    private long arriving;
    private long total;

    /// @param line ended with this
    /// @param loop runs what other threads tell
    public Rendezvous(int rank, BulkBackoff bulk, BulkLine line, Executor loop, Host host) {
        this.rank = rank;
        this.bulk = bulk;
        this.line = line;
        this.loop = loop;
        this.host = host;
    }

    /// The part behind the hello.
    public byte[] offer() {
        return BulkOffer.part(line.address());
    }

    /// The peer has greeted, too.
    ///
    /// @param offered address of its end, or `null`
    public void meet(byte @Nullable [] offered) {
        if (offered == null) {
            return;
        }
        try {
            line.connect(offered);
            usable = true;
        } catch (IOException | RuntimeException notThere) {
            NodeLog.LOG.log(Level.DEBUG, "line is not used: rank=" + rank + " reason=" + notThere.getMessage());
        }
    }

    /// Whether a message waits for the peer, or for the line.
    public boolean isWaiting(long number, boolean skipped) {
        return number == sequence && (leaving == Leaving.WRITING || leaving == Leaving.ASKED && !skipped);
    }

    /// Whether a message has been written, and the peer is to be told.
    public boolean isWritten(long number) {
        return leaving == Leaving.WRITTEN && number == sequence;
    }

    /// Whether a message is to go by the connection, since the peer has no room for it.
    public boolean isRefused(long number) {
        return number == refused;
    }

    /// Whether a message that has not begun goes this way.
    ///
    /// @param number of the message, or -1 if it has none yet
    public boolean takes(Frame.Kind kind, long number, long bytes, @Nullable SealedBuffer handle) {
        return usable
                && (kind == Frame.Kind.DIRECT || kind == Frame.Kind.BROADCAST && bytes <= Integer.MAX_VALUE)
                && bytes >= bulk.above()
                && leaving == Leaving.IDLE
                && number != refused
                && handle != null
                && line.takes(handle);
    }

    /// A message is asked for.
    ///
    /// @param handle owned from now on
    public void asked(long number, SealedBuffer handle) {
        leaving = Leaving.ASKED;
        sequence = number;
        held = handle;
    }

    /// The peer has forgotten what it was asked.
    public void askAgain() {
        if (leaving == Leaving.ASKED) {
            idle();
        }
    }

    /// The peer was told that a message is whole, or that it is skipped.
    public void over(long number) {
        if (number == sequence) {
            idle();
        }
    }

    /// The peer's answer. One to an earlier question changes nothing.
    public void cleared(Frame clear) {
        if (leaving != Leaving.ASKED || clear.sequence() != sequence) {
            return;
        }
        if (clear.tag() != GRANTED) {
            usable &= clear.tag() != NO_LINE;
            refused = sequence;
            idle();
            host.pump();
            return;
        }
        SealedBuffer bytes = held;
        if (bytes == null) {
            throw new IllegalStateException("nothing is held: sequence=" + sequence);
        }
        leaving = Leaving.WRITING;
        held = null;
        long number = sequence;
        try (bytes) {
            line.write(bytes, clear.session(), clear.number())
                    .whenComplete((done, failure) -> loop.execute(() -> written(number, failure)));
        } catch (IOException | RuntimeException failure) {
            host.failed(failure);
        }
    }

    private void written(long number, @Nullable Throwable failure) {
        if (closed || leaving != Leaving.WRITING || number != sequence) {
            return;
        }
        if (failure != null) {
            host.failed(failure);
            return;
        }
        bulk.worked();
        leaving = Leaving.WRITTEN;
        host.pump();
    }

    /// The peer asks for memory.
    ///
    /// @param isNext false if the message is here already
    /// @throws IOException if it has some for another message
    public void requested(Frame request, boolean isNext) throws IOException {
        if (landing != null && (request.sequence() != arriving || request.total() != total)) {
            throw new IOException("asks for a second landing: sequence=" + request.sequence() + " total="
                    + request.total() + " before=" + arriving);
        }
        if (!usable) {
            answer(request.sequence(), NO_LINE, 0, 0);
            return;
        }
        BulkLanding granted = landing == null && isNext ? land(request) : landing;
        if (granted == null) {
            answer(request.sequence(), REFUSED, 0, 0);
        } else {
            answer(request.sequence(), GRANTED, granted.key(), granted.target());
        }
    }

    private @Nullable BulkLanding land(Frame request) {
        try {
            BulkLanding granted = line.land(request.total());
            landing = granted;
            arriving = request.sequence();
            total = request.total();
            return granted;
        } catch (IOException | RuntimeException | OutOfMemoryError noRoom) {
            NodeLog.LOG.log(Level.DEBUG, "no landing: rank=" + rank + " reason=" + noRoom.getMessage());
            return null;
        }
    }

    private void answer(long number, int word, long key, long target) {
        host.say(new Frame(Frame.Kind.CLEAR, word, rank, Optional.empty(), false, number, 0, 0, key, target, 0, BULK));
    }

    /// A frame of the bulk lane that is not the end of a rendezvous.
    ///
    /// @throws IOException if it is of bytes that are being written elsewhere
    public void passed(Frame frame) throws IOException {
        BulkLanding waits = landing;
        if (waits == null) {
            return;
        }
        if (frame.kind() != Frame.Kind.SKIP) {
            throw new IOException("bytes of a message that lands elsewhere: sequence=" + frame.sequence());
        }
        landing = null;
        waits.close();
    }

    /// The peer has written all of a message.
    ///
    /// @return the message, in a handle of the caller's
    /// @throws IOException if it was not granted, or the device has not let go of it
    public SealedBuffer finished(Frame frame) throws IOException {
        BulkLanding whole = landing;
        if (whole == null
                || frame.lane() != BULK
                || frame.sequence() != arriving
                || frame.total() != total
                || frame.length() != 0) {
            throw new IOException("finished without a landing: sequence=" + frame.sequence() + " total=" + frame.total()
                    + " lane=" + frame.lane());
        }
        landing = null;
        try {
            return whole.seal();
        } catch (IOException | RuntimeException notLetGo) {
            // no line for a while: else the message would meet the same device again
            host.failed(notLetGo);
            throw new IOException("message was not sealed: sequence=" + frame.sequence(), notLetGo);
        }
    }

    /// The connection is over: the peer can write no more. Again does nothing.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        usable = false;
        landing = null;
        try {
            line.close();
        } catch (Throwable failure) {
            // the node closes what is behind it, whatever this one throws
            NodeLog.failed(Trouble.LINE_NOT_CLOSED, rank, failure);
        } finally {
            idle();
        }
    }

    private void idle() {
        SealedBuffer handle = held;
        leaving = Leaving.IDLE;
        sequence = NONE;
        held = null;
        if (handle != null) {
            try {
                handle.close();
            } catch (Throwable failure) {
                // of a user's listener
                NodeLog.failed(Trouble.RELEASE, rank, failure);
            }
        }
    }
}
