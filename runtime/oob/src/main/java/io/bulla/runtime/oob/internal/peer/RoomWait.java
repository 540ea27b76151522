// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.internal.core.Deadlines;
import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.internal.handlers.LoopHandlers;
import io.bulla.runtime.oob.internal.session.PendingSend;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/// A thread that waits until the queue of a peer has room for its send.
public final class RoomWait {

    private final LoopContext context;
    private final HandlerExecutor handlers;
    private final BooleanSupplier isClosing;

    public RoomWait(LoopContext context, HandlerExecutor handlers, BooleanSupplier isClosing) {
        this.context = context;
        this.handlers = handlers;
        this.isClosing = isClosing;
    }

    /// @throws IllegalStateException if the caller is who makes room
    public void checkCaller(int peer) {
        if (context.eventLoop().inEventLoop()) {
            throw new IllegalStateException("called on the event loop, which makes room: rank=" + context.rank());
        }
        if (LoopHandlers.isCallingHere()) {
            throw new IllegalStateException("called by a handler on an event loop, which must not wait: rank="
                    + context.rank() + " peer=" + peer);
        }
        if (peer == context.rank() && handlers.isRunningHere()) {
            throw new IllegalStateException(
                    "called by a handler, which makes room for messages to its own node: rank=" + context.rank());
        }
    }

    /// Takes room for a send, if the node is not closing.
    public void take(PendingSend send) throws InterruptedException, TimeoutException {
        try {
            while (!isClosing.getAsBoolean() && !tryTake(send)) {
                await(send);
            }
        } catch (RejectedExecutionException loopIsDown) {
            // the send fails as one that is too late
        }
    }

    private static boolean tryTake(PendingSend send) {
        send.hasRoom = send.peer.quota().tryTake(send.bytes) == null;
        return send.hasRoom;
    }

    private void await(PendingSend send) throws InterruptedException, TimeoutException {
        CompletableFuture<Void> room = send.peer.quota().await(send.bytes);
        Future<?> late = null;
        try {
            late = Deadlines.has(send.options) ? atDeadline(send, room) : null;
            // not for a time: the clock is the loop's
            room.get();
        } catch (ExecutionException deadline) {
            throw (TimeoutException) deadline.getCause();
        } finally {
            // it is looked at no more
            room.cancel(false);
            if (late != null) {
                late.cancel(false);
            }
        }
    }

    private Future<?> atDeadline(PendingSend send, CompletableFuture<Void> room) {
        long left = Deadlines.nanos(send.options.deadline().get()) - send.ageNanos(context.now());
        return context.eventLoop().schedule(() -> room.completeExceptionally(send.late()), left, TimeUnit.NANOSECONDS);
    }
}
