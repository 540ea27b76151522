// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.PeerFailedException;
import io.bulla.runtime.oob.internal.core.Failures;
import io.bulla.runtime.oob.internal.core.FlightEvents;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import io.bulla.runtime.oob.internal.flow.Credit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// Gives each message to its receiver, on the event loop or on the handlers' thread, or keeps it.
public final class Handlers {

    private final int rank;
    private final MemorySource source;
    private final HandlerExecutor handlerExecutor;
    private final Failures failures;
    private final Turn turn;
    private final LoopHandlers onLoop;
    private final Receivers receivers;

    /// @param keep bytes that messages without a receiver may pin, each counted with its header
    /// @param source of copies of those that would pin more than they are
    public Handlers(
            int rank,
            long keep,
            MemorySource source,
            HandlerExecutor handlerExecutor,
            LoopHandlers onLoop,
            Failures failures) {
        this.rank = rank;
        this.onLoop = onLoop;
        this.turn = new Turn(handlerExecutor, onLoop::later);
        this.receivers = new Receivers(rank, keep, onLoop);
        this.source = source;
        this.handlerExecutor = handlerExecutor;
        this.failures = failures;
    }

    /// To the handlers, which own the message's handle from now on. On the loop.
    ///
    /// @param from rank of the sender
    /// @param credit that the message holds
    public void dispatch(Message message, Incoming.Sender sender, int from, Credit credit) {
        arrived(new Incoming(message, this, sender, credit), from);
    }

    /// A broadcast, to the handlers. On the loop.
    ///
    /// @param check that its handler waits for; or `null`
    public void dispatch(Message message, Incoming.Charge charge, Incoming.@Nullable Check check) {
        arrived(Incoming.broadcast(message, this, charge, check), message.origin());
    }

    /// A message of this node to itself. Any thread.
    public void dispatchOwn(Message message, Incoming.Sender sender) {
        Incoming own = new Incoming(message, this, sender, null);
        FlightEvents.received(rank, rank, message, own.bytes);
        handlerExecutor.put(own);
    }

    /// A message that had arrived when a cut was taken. Before the loop runs.
    public void restore(Message message) {
        Incoming restored = new Incoming(message, this, null, null);
        restored.waitsBefore(onLoop.of(message.tag()));
        handlerExecutor.put(restored);
    }

    private void arrived(Incoming incoming, int from) {
        FlightEvents.received(rank, from, incoming.message, incoming.bytes);
        LoopHandler on = onLoop.of(incoming.message.tag());
        if (on != null && incoming.isChecked()) {
            // may fail, where a call that has begun has to end
            onLoop.prepare();
        }
        if (on != null && incoming.isChecked() && receivers.mayRun(on)) {
            run(on, incoming);
        } else {
            incoming.waitsBefore(on);
            turn.hold(incoming, incoming.bytes);
        }
    }

    /// Bytes of a message have landed that is not whole yet. On the loop.
    public void landed(long bytes) {
        turn.landed(bytes);
    }

    /// What has arrived in this turn of the loop goes to the handlers' thread. On the loop, or once that has ended.
    public void endTurn() {
        turn.over();
    }

    /// Registers those that are there before anything can arrive.
    public void begin(Map<Integer, MessageHandler> first) {
        first.forEach((tag, handler) ->
                receivers.set(tag, handler, handler.runsOnLoop() ? new LoopHandler(tag, handler, 0) : null));
    }

    public void receive(int tag, MessageHandler handler) {
        LoopHandler on = handler.runsOnLoop() ? new LoopHandler(tag, handler, 1) : null;
        HandlerExecutor.Item begin = new HandlerExecutor.Item() {
            @Override
            public void run() {
                awaitLoop(tag);
                for (Incoming kept = next(); kept != null; kept = next()) {
                    handle(handler, kept);
                }
            }

            private @Nullable Incoming next() {
                return receivers.nextKept(tag, handler);
            }
        };
        if (receivers.set(tag, handler, on)) {
            handlerExecutor.put(begin);
            if (on != null) {
                onLoop.later(() -> letRun(on));
            }
        }
    }

    /// What the loop has put before it knew of a handler is before this; the loop runs it from then on.
    private void letRun(LoopHandler on) {
        handlerExecutor.put(new HandlerExecutor.Item() {
            @Override
            public void run() {
                on.uncount();
            }
        });
    }

    /// On the loop, behind [LoopHandlers#prepare].
    private void run(LoopHandler on, Incoming incoming) {
        onLoop.begun();
        try {
            handle(on.handler, incoming);
        } finally {
            onLoop.ended();
            if (on.end()) {
                giveUp(on);
            }
        }
    }

    /// What fails is tried again behind its next call.
    private void giveUp(LoopHandler on) {
        try {
            receivers.giveUp(on);
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.HANDLER_NOT_GIVEN_UP, rank, on.tag, failure);
        }
    }

    /// A message of this node to itself whose handler runs on the loop. On the handlers' thread.
    ///
    /// @return false if the handler has left the loop meanwhile: the message has to be delivered again
    private boolean runThere(LoopHandler on, Incoming own) {
        boolean isUp = onLoop.waitFor(() -> runPrepared(on, own));
        if (!isUp && !own.isBegun()) {
            own.begin();
            drop(own);
        }
        return own.isBegun() || onLoop.of(on.tag) == on;
    }

    private void runPrepared(LoopHandler on, Incoming own) {
        if (onLoop.of(on.tag) == on) {
            onLoop.prepare();
            on.begin();
            run(on, own);
        }
    }

    /// A handler that has taken the place of one on the loop runs after that. On the handlers' thread.
    private void awaitLoop(int tag) {
        if (receivers.isLoopRunning(tag)) {
            onLoop.waitFor(() -> {});
        }
    }

    /// Those that run on the event loop. Any thread.
    public LoopHandlers onLoop() {
        return onLoop;
    }

    public void stopReceiving(int tag) {
        receivers.stop(tag);
    }

    public CompletionStage<Message> receiveOnce(int tag) {
        CompletableFuture<Message> future = new CompletableFuture<>();
        // first: it may find no heap
        future.whenComplete((message, givenUp) -> {
            if (givenUp != null) {
                receivers.giveUp(tag, future);
            }
        });
        Object kept = receivers.keptOrWait(tag, future);
        if (kept == Receivers.CLOSED) {
            future.completeExceptionally(closed());
        } else if (kept instanceof Incoming incoming) {
            incoming.leave();
            future.complete(incoming.message);
        }
        return future;
    }

    public Optional<Message> peek(int tag) {
        for (Message first = receivers.firstKept(tag); first != null; first = receivers.firstKept(tag)) {
            try {
                // not under the lock: the listener of handles is the user's
                return Optional.of(Incoming.with(first, first.buffer().share()));
            } catch (ReleasedBufferException handled) {
                // since it was looked at: another one is the first
            }
        }
        return Optional.empty();
    }

    /// Bytes that messages without a receiver pin, with their headers.
    public long unclaimed() {
        return receivers.unclaimed();
    }

    /// Tags that are asked for, or of which something is kept.
    public int tags() {
        return receivers.tags();
    }

    /// Messages without a receiver, of each tag in order.
    public List<Incoming> kept() {
        return receivers.kept();
    }

    /// On the handlerExecutor's thread.
    void deliver(Incoming incoming) {
        for (Object receiver = receivers.of(incoming); receiver != Receivers.KEPT; receiver = receivers.of(incoming)) {
            if (receiver instanceof MessageHandler handler) {
                LoopHandler on = incoming.isOwn() ? onLoop.of(incoming.message.tag()) : null;
                if (on == null || on.handler != handler) {
                    handle(handler, incoming);
                    return;
                }
                if (runThere(on, incoming)) {
                    return;
                }
            }
            if (receiver == Receivers.LOOP_RUNS) {
                onLoop.waitFor(() -> {});
            }
            if (receiver instanceof CompletableFuture<?> once && take(once, incoming)) {
                return;
            }
            if (receiver == Receivers.CLOSED) {
                incoming.begin();
                drop(incoming);
                return;
            }
            if (receiver == incoming) {
                // the source is the user's: not under the lock
                incoming.compact(source);
            }
        }
    }

    /// Drops what is kept, and fails who waits, each whatever the others throw.
    public void close() {
        Throwable why = reason();
        for (Receivers.Tag tag : receivers.close()) {
            for (Incoming kept = receivers.poll(tag.kept); kept != null; kept = receivers.poll(tag.kept)) {
                drop(kept);
            }
            for (var waiting = receivers.pollOnce(tag); waiting != null; waiting = receivers.pollOnce(tag)) {
                waiting.completeExceptionally(why);
            }
        }
    }

    /// Who waits hears it, whether or not there is memory for its words.
    private Throwable reason() {
        try {
            return closed();
        } catch (OutOfMemoryError noMemory) {
            return noMemory;
        }
    }

    private PeerFailedException closed() {
        return failures.peerFailed(rank, "this node is closed");
    }

    @SuppressWarnings("unchecked") // receivers that are futures are those of receiveOnce
    private static boolean take(CompletableFuture<?> once, Incoming incoming) {
        if (once.isDone()) {
            // given up: the message is the next one's, with what it holds
            return false;
        }
        incoming.begin();
        // before the future's dependents run
        incoming.leave();
        return ((CompletableFuture<Message>) once).complete(incoming.message);
    }

    private void handle(MessageHandler handler, Incoming incoming) {
        incoming.begin();
        try {
            handler.received(incoming.message);
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.HANDLER_OF_TAG, rank, incoming.message.tag(), failure);
        } finally {
            drop(incoming);
        }
    }

    /// Whose memory a user releases may fail, which costs no other message anything.
    private void drop(Incoming incoming) {
        try {
            incoming.drop();
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.RELEASE_OF_TAG, rank, incoming.message.tag(), failure);
        }
    }
}
