// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.internal.Failures;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.DefaultChannelPromise;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// A message on its way: its promise, and what holds its handle until the promise has completed and each piece was
/// released. One object, because each client of a broadcast costs one.
///
/// ```
/// waiting(pieces + 1) --a piece released, the promise done--> one less, ..., 0: the handle is closed; 0 is final
/// ```
///
/// Ordering
/// 1. **The handle goes last.** Each event is an atomic step that releases and acquires: every use of the memory is
///    before the close, in whichever threads the events happen.
final class Sending extends DefaultChannelPromise implements MessagePiece.Holder, Runnable {

    private static final VarHandle WAITING;

    static {
        try {
            WAITING = MethodHandles.lookup().findVarHandle(Sending.class, "waiting", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final ChannelFutureListener DONE = done -> ((Sending) done).happened();

    private final SealedBuffer handle;
    // one piece, which most messages are, or several; other threads get this after these were set
    private @Nullable MessagePiece whole;
    private List<MessagePiece> pieces = List.of();

    @SuppressWarnings("unused") // by WAITING
    private int waiting;

    /// @param handle closed by this, once
    Sending(Channel channel, SealedBuffer handle) {
        super(channel);
        this.handle = handle;
    }

    /// Before any of them is released.
    void of(MessagePiece only) {
        whole = only;
        // plain: no other thread has this yet
        waiting = 2;
    }

    /// Before any of them is released.
    void of(List<MessagePiece> several) {
        pieces = several;
        // plain: as above
        waiting = several.size() + 1;
    }

    /// One of the events has happened; the last one closes the handle.
    @Override
    public void happened() {
        // volatile: ordering 1
        int before = (int) WAITING.getAndAdd(this, -1);
        if (before == 1) {
            handle.close();
        } else if (before < 1) {
            throw new IllegalStateException("more events than announced: surplus=" + (1 - before));
        }
    }

    /// From any thread.
    void queue() {
        if (channel().eventLoop().inEventLoop()) {
            run();
            return;
        }
        try {
            channel().eventLoop().execute(this);
        } catch (RejectedExecutionException | OutOfMemoryError notQueued) {
            // the loop is down, or its queue could not grow, and is as it was
            giveUp(notQueued);
        }
    }

    /// Writes it. On the event loop: once that is down, a promise tells its listeners nothing any more.
    @Override
    public void run() {
        MessagePiece only = whole;
        Pieces several;
        try {
            several = only == null ? new Pieces(channel(), this, pieces) : null;
            addListener(DONE);
        } catch (OutOfMemoryError noHeap) {
            giveUp(noHeap);
            return;
        }
        if (several != null) {
            several.write();
        } else {
            channel().writeAndFlush(only, this);
        }
    }

    /// Whatever a release throws, all is let go, and the promise fails.
    private void giveUp(Throwable why) {
        MessagePiece only = whole;
        Throwable release = only == null ? PiecesRelease.of(pieces, 0) : PiecesRelease.of(only);
        if (release != null) {
            Failures.join(why, release);
        }
        try {
            happened();
        } catch (Throwable memory) {
            Failures.join(why, memory);
        } finally {
            setFailure(why);
        }
    }
}
