// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.End;
import io.bulla.fanout.Subscriber;
import io.bulla.fanout.Subscription;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A channel as the subscriber of a fan-out.
///
/// Threads that publish hand messages to the event loop. Netty does not count those that have not come there yet, so
/// they are counted here: at most [#HANDED] of them.
final class Outlet implements Subscriber {

    /// How long the last words to a client may take to go out.
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int HANDED = 16;

    /// The channel. Any thread.
    interface Side {

        /// Whether the channel takes more.
        boolean isWritable();

        /// Writes a message, and tells the outlet, on the loop, when it was written or has failed.
        ///
        /// @param message stays the caller's
        /// @param isFirst false if others are still on their way to the loop: it goes there behind them
        void write(SealedBuffer message, Outlet from, boolean isFirst);

        /// Closes the channel behind what was written, if its subscription got all or was closed, else at once, and
        /// says why where its protocol can.
        void end(End why);
    }

    private final Side side;
    // handed to the loop, and not written there
    private final AtomicInteger handed = new AtomicInteger();

    // the loop's: none before the handler has this
    private @Nullable Subscription subscription;

    Outlet(Side side) {
        this.side = side;
    }

    /// On the loop.
    void subscribed(Subscription by) {
        subscription = by;
    }

    /// On the loop.
    boolean hasEnded() {
        Subscription mine = subscription;
        return mine != null && !mine.isOpen();
    }

    @Override
    public boolean isReady() {
        // volatile: a look that comes too early is one message more; the loop looks again when it has written
        return handed.get() < HANDED && side.isWritable();
    }

    @Override
    public void send(SealedBuffer message) {
        // volatile: before the loop has it, which takes it off; at one, all that was handed before has come there
        boolean isFirst = handed.incrementAndGet() == 1;
        try {
            side.write(message, this, isFirst);
        } catch (Throwable failure) {
            // volatile: as above
            handed.decrementAndGet();
            throw failure;
        }
    }

    /// On the loop: a message has come there, and was written or has failed.
    void written() {
        // volatile: what was handed before has come, so a publisher that found this full has queued before, or looks
        // again
        if (handed.decrementAndGet() == 0) {
            proceed();
        }
    }

    /// On the loop: a message was not written. A subscriber with a hole is none.
    void failed(Throwable why) {
        Subscription mine = subscription;
        if (mine == null) {
            close(new End.Failed(why));
        } else {
            mine.end(new End.Failed(why));
        }
    }

    /// On the loop: the channel may take more.
    void proceed() {
        Subscription mine = subscription;
        if (mine != null) {
            mine.proceed();
        }
    }

    /// On the loop: the channel is over.
    void leave() {
        Subscription mine = subscription;
        if (mine != null) {
            mine.leave();
        }
    }

    @Override
    public void close(End why) {
        side.end(why);
    }
}
