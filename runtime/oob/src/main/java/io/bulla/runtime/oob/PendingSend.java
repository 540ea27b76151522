// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The engine's side of a [Send]: where it stands in its lane, and what it holds. It completes at most once,
/// whichever comes first: the acknowledgement, a failure, the deadline, a cancel, the close of the node.
sealed class PendingSend extends CompletableFuture<Delivery> implements Send permits BroadcastSend {

    // few and small fields: a send is most of what is allocated for a short message
    final Frame.Kind kind;
    final int tag;
    final long bytes;
    final SendOptions options;
    final Peer peer;
    private final long started;

    // the event loop's, but for the links, which are the intake's before
    @Nullable
    PendingSend next;

    @Nullable
    PendingSend previous;
    // until it needs none any more; a broadcast that still lands has none
    @Nullable
    SealedBuffer handle;

    @Nullable
    Lane lane;

    @Nullable
    Future<?> deadline;

    long sequence = -1;
    long order;
    long offset;
    int attempts;
    // a byte: with an int, every send is 8 bytes larger
    byte depth;
    boolean hasRoom;
    boolean skipped;
    boolean written;

    PendingSend(Frame.Kind kind, int tag, SendOptions options, long bytes, @Nullable SealedBuffer handle, Peer peer) {
        this.kind = kind;
        this.tag = tag;
        this.options = options;
        this.bytes = bytes;
        this.handle = handle;
        this.peer = peer;
        this.started = peer.nodeLoop().now();
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
            peer.nodeLoop().forget(this);
        }
    }

    /// Completes it, unless it is complete already.
    ///
    /// @param now in nanoseconds, asked for once where many sends are reached together: the clock takes longer
    ///     than the completion
    void reached(Delivery.Status status, long now) {
        super.complete(new Delivery(peer.rank(), tag, status, bytes, attempts, ageNanos(now)));
    }

    /// Completes it, unless it is complete already.
    void fail(Throwable failure) {
        super.completeExceptionally(failure);
    }

    TimeoutException late() {
        return new TimeoutException("deadline has passed: peer=" + peer.rank() + " tag=" + tag + " bytes=" + bytes
                + " millis=" + options.deadline().map(Duration::toMillis).orElse(0L) + " attempts=" + attempts);
    }

    /// Rank of the node that sent it first.
    int origin() {
        return peer.nodeLoop().settings().rank();
    }

    /// Of the origin, if it is a broadcast; else 0.
    long session() {
        return 0;
    }

    /// Of the broadcast; else 0.
    long number() {
        return 0;
    }

    /// How its bytes are packed, as a header says it.
    int mark() {
        return options.mark();
    }

    /// Whether it is a broadcast that ends with its origin's signature.
    boolean isSigned() {
        return false;
    }

    /// Whether its bytes may still be arriving here.
    boolean isLanding() {
        return false;
    }

    /// Whether there is something to be written of it now.
    boolean isReady(int fragment) {
        return true;
    }

    /// The next bytes to be written, in a handle of the caller's.
    SealedBuffer piece(int fragment) {
        SealedBuffer held = Objects.requireNonNull(handle, "handle");
        return offset == 0 && bytes <= fragment ? held.share() : held.slice(offset, Math.min(fragment, bytes - offset));
    }

    long ageNanos(long now) {
        return now - started;
    }
}
