package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;

/// A message on its way: a stage that completes once, with a [Delivery], or exceptionally with
///
/// - a [PeerFailedException]: the peer failed, or this node was closed; whether the message arrived is not known;
/// - a [java.util.concurrent.CancellationException]: it was cancelled;
/// - a [TimeoutException]: its deadline has passed;
/// - a [QueueFullException]: it was not queued at all.
///
/// ```
/// queued --first byte--> on the wire --all bytes--> written --acknowledged--> gone: the handle is closed
///   |                        |                         |
///   +-- cancel: forgotten    +-- cancel: a SKIP takes its place, the receiver drops what it has
///                                                      +-- cancel: too late to stop it, it may be handled
/// ```
///
/// What depends on it without an executor of its own runs on the node's event loop, and must not block.
/// Completing it from outside is a cancel.
public final class Send extends CompletableFuture<Delivery> {

    // what it is; set once
    final Frame.Kind kind;
    final int tag;
    final int origin;
    final Optional<WireFormat> format;
    final long bytes;
    private final long started = System.nanoTime();
    final Peer peer;
    final Delivery.Status level;

    // the event loop's, but for the links, which are the intake's before
    Send next;
    Send previous;
    SendList list;
    SealedBuffer handle;
    // what it is of; without a handle, where the bytes are, or will be
    Broadcast broadcast;
    // at the origin of a broadcast, on its way to the loop
    CompletableFuture<XcastResult> result;
    boolean hasRoom;
    Lane lane;
    Future<?> deadline;
    long deadlineNanos;
    long sequence = -1;
    long order;
    long offset;
    int attempts;
    boolean skipped;

    Send(Frame.Kind kind, int tag, int origin, SendOptions options, SealedBuffer handle, Peer peer) {
        this.kind = kind;
        this.tag = tag;
        this.origin = origin;
        this.format = options.format();
        this.level = options.level();
        this.handle = handle;
        this.bytes = handle.byteSize();
        this.peer = peer;
    }

    /// Of a broadcast that is still landing.
    Send(Broadcast broadcast, Peer peer) {
        this.kind = Frame.Kind.XCAST;
        this.tag = broadcast.tag;
        this.origin = broadcast.key.origin();
        this.format = broadcast.options.format();
        this.level = broadcast.options.level();
        this.bytes = broadcast.total;
        this.peer = peer;
    }

    /// Ends the send if it is not complete. What was not begun is not sent.
    ///
    /// @return false if it was complete already
    public boolean cancel() {
        return cancel(false);
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
            peer.hub().forget(this);
        }
    }

    /// Completes it, unless somebody was faster.
    void reached(Delivery.Status status) {
        super.complete(new Delivery(peer.rank(), tag, status, bytes, attempts, System.nanoTime() - started));
    }

    /// Completes it, unless somebody was faster.
    void fail(Exception failure) {
        super.completeExceptionally(failure);
    }

    TimeoutException late() {
        return new TimeoutException("deadline has passed: peer=" + peer.rank() + " tag=" + tag + " bytes=" + bytes
                + " millis=" + deadlineNanos / 1_000_000 + " attempts=" + attempts);
    }

    boolean isLanding() {
        return handle == null && broadcast != null;
    }

    /// Whether there is something to be written of it now.
    boolean isReady(int fragment) {
        return skipped || !isLanding() || broadcast.has(offset, fragment);
    }

    /// The next bytes to be written, in a handle of the caller's.
    SealedBuffer piece(int fragment) {
        if (isLanding()) {
            return broadcast.piece(offset, fragment);
        }
        return bytes <= fragment ? handle.share() : handle.slice(offset, Math.min(fragment, bytes - offset));
    }

    long ageNanos(long now) {
        return now - started;
    }
}
