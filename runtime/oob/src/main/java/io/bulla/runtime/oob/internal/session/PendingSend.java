// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.flow.SendQuota;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The engine's side of a [Send]: where it stands in its lane, and what it holds. It completes at most once,
/// whichever comes first: the acknowledgement, a failure, the deadline, a cancel, the close of the node.
///
/// The sender's thread makes it, any thread may complete it, the rest is one event loop's.
public class PendingSend extends CompletableFuture<Delivery> implements Send {

    public static final byte NO_LANE = -1;

    /// The peer that a send goes to, as the send needs it. On the loop, but for what says that any thread may call
    /// it.
    public interface Owner {

        /// Any thread.
        int rank();

        /// Rank of this node. Any thread.
        int self();

        /// Any thread.
        long now();

        /// Any thread.
        SendQuota quota();

        /// Queues it; [#pump] writes it.
        ///
        /// @return true if the peer has to be pumped and was not noted for it yet
        boolean enqueue(PendingSend send);

        void pump();

        /// What is not begun goes, what is begun is taken back.
        void forget(PendingSend send);

        /// Ends one that cannot go on, wherever it is.
        void end(PendingSend send, Throwable failure);

        /// It was completed from outside. Any thread.
        void onCompleted(PendingSend send);

        /// Closes a handle, whatever its release does. Any thread.
        void close(SealedBuffer handle);
    }

    // few and small fields: a send is most of what is allocated for a short message
    public final Frame.Kind kind;
    public final int tag;
    public final long bytes;
    public final SendOptions options;
    public final Owner peer;
    private final long started;

    // the event loop's, but for the links, which are the intake's before
    @Nullable
    public PendingSend next;

    @Nullable
    PendingSend previous;
    // until it needs none any more; a broadcast that still lands has none
    @Nullable
    public SealedBuffer handle;

    @Nullable
    public Future<?> deadline;

    public long sequence = -1;
    public long order;
    public long offset;
    public int attempts;
    // bytes: with an int, every send is 8 bytes larger
    public byte lane = NO_LANE;
    public byte depth;
    public boolean hasRoom;
    public boolean skipped;
    boolean written;

    public PendingSend(
            Frame.Kind kind, int tag, SendOptions options, long bytes, @Nullable SealedBuffer handle, Owner peer) {
        this.kind = kind;
        this.tag = tag;
        this.options = options;
        this.bytes = bytes;
        this.handle = handle;
        this.peer = peer;
        this.started = peer.now();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        if (cancelled) {
            forget();
        }
        return cancelled;
    }

    @Override
    public boolean complete(Delivery value) {
        boolean mine = super.complete(value);
        if (mine) {
            forget();
        }
        return mine;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        boolean mine = super.completeExceptionally(failure);
        if (mine) {
            forget();
        }
        return mine;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }

    private void forget() {
        if (peer != null) {
            peer.onCompleted(this);
        }
    }

    /// Completes it, unless it is complete already.
    ///
    /// @param now in nanoseconds, asked for once where many sends are reached together: the clock takes longer
    ///     than the completion
    public void reached(Delivery.Status status, long now) {
        super.complete(new Delivery(peer.rank(), tag, status, bytes, attempts, ageNanos(now)));
    }

    /// Completes it, unless it is complete already.
    public void fail(Throwable failure) {
        super.completeExceptionally(failure);
    }

    public TimeoutException late() {
        return new TimeoutException("deadline has passed: peer=" + peer.rank() + " tag=" + tag + " bytes=" + bytes
                + " millis=" + options.deadline().map(Duration::toMillis).orElse(0L) + " attempts=" + attempts);
    }

    /// Rank of the node that sent it first.
    public int origin() {
        return peer.self();
    }

    /// Of the origin, if it is a broadcast; else 0.
    public long session() {
        return 0;
    }

    /// Of the broadcast; else 0.
    public long number() {
        return 0;
    }

    /// How its bytes are packed, as a header says it.
    public int mark() {
        return markOf(options);
    }

    public static int markOf(SendOptions options) {
        return options.format().isPresent() ? options.format().get().mark() : 0;
    }

    /// Whether it is a broadcast that ends with its origin's signature.
    public boolean isSigned() {
        return false;
    }

    /// Whether its bytes may still be arriving here.
    public boolean isLanding() {
        return false;
    }

    /// Whether there is something to be written of it now.
    public boolean isReady(int fragment) {
        return true;
    }

    /// The next bytes to be written, in a handle of the caller's.
    public SealedBuffer piece(int fragment) {
        SealedBuffer held = Objects.requireNonNull(handle, "handle");
        return offset == 0 && bytes <= fragment ? held.share() : held.slice(offset, Math.min(fragment, bytes - offset));
    }

    /// How many of its bytes are here.
    public long landed() {
        return bytes;
    }

    public long ageNanos(long now) {
        return now - started;
    }

    /// It has come to the loop.
    ///
    /// @return as [Owner#enqueue]
    public boolean begin() {
        return peer.enqueue(this);
    }

    /// The peer has acknowledged it.
    public void onAcknowledged() {
        // it is complete
    }

    /// The peer does not take it, or it cannot be sent.
    public void onRefused(String why) {
        // it has failed
    }

    /// Others wait behind it, and what is to be sent of it has not landed.
    public void giveWay() {
        // all of it is here
    }

    /// It needs its handle and its room no more; again is harmless.
    public void release() {
        SealedBuffer held = handle;
        if (held != null) {
            handle = null;
            peer.close(held);
        }
        if (kind == Frame.Kind.DIRECT) {
            giveRoom();
        }
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    /// The program may have so much more on its way; again is harmless.
    public void giveRoom() {
        if (hasRoom) {
            hasRoom = false;
            peer.quota().give(1, bytes);
        }
    }
}
