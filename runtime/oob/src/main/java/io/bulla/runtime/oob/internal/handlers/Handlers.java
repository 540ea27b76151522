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
import io.bulla.runtime.oob.internal.flow.Credit;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// Who receives which tag, and the messages without a receiver: all are kept, in order. Up to a bound they cost
/// their sender nothing; beyond it they hold its credit, so that it waits.
///
/// The lock is held to look, never while user code runs.
public final class Handlers {

    private static final Logger LOG = NodeLog.LOG;
    // in place of a receiver
    private static final Object CLOSED = new Object();
    private static final Object LOOP_RUNS = new Object();

    /// The state of one tag.
    private static final class Tag {

        private final Queue<CompletableFuture<Message>> once = new ArrayDeque<>();
        private final Queue<Incoming> kept = new ArrayDeque<>();
        private @Nullable MessageHandler handler;
        // that ran on the loop before this handler, and perhaps still runs
        private @Nullable LoopHandler before;
    }

    private final int rank;
    private final long keep;
    private final MemorySource source;
    private final HandlerExecutor handlerExecutor;
    private final Failures failures;
    private final Turn turn;
    private final LoopHandlers onLoop;
    // all under the lock
    private final Map<Integer, Tag> tags = new HashMap<>();
    private long keptBytes;
    private long overLimit;
    private boolean closed;

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
        this.keep = keep;
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
        if (on != null && incoming.isChecked() && mayRun(on)) {
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

    /// A connection has been read, for now. On the loop.
    public void onRead() {
        turn.over();
    }

    /// Registers those that are there before anything can arrive.
    public void begin(Map<Integer, MessageHandler> first) {
        first.forEach(
                (tag, handler) -> set(tag, handler, handler.runsOnLoop() ? new LoopHandler(tag, handler, 0) : null));
    }

    public void receive(int tag, MessageHandler handler) {
        LoopHandler on = handler.runsOnLoop() ? new LoopHandler(tag, handler, 1) : null;
        HandlerExecutor.Item begin = new HandlerExecutor.Item() {
            @Override
            public void run() {
                awaitLoop(tag);
                for (Incoming kept = nextKept(tag, handler); kept != null; kept = nextKept(tag, handler)) {
                    handle(handler, kept);
                }
            }
        };
        if (set(tag, handler, on)) {
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

    /// @return false if this is closed
    private synchronized boolean set(int tag, MessageHandler handler, @Nullable LoopHandler on) {
        if (closed) {
            return false;
        }
        Tag of = tags.computeIfAbsent(tag, t -> new Tag());
        LoopHandler before = onLoop.of(tag);
        if (on != null) {
            onLoop.put(on);
        } else if (before != null) {
            onLoop.remove(before);
        }
        of.before = before == null ? of.before : before;
        of.handler = handler;
        return true;
    }

    /// Whether a handler is to run on the loop now; it has begun then. On the loop.
    private synchronized boolean mayRun(LoopHandler on) {
        Tag of = tags.get(on.tag);
        boolean may = !closed
                && of != null
                && of.handler == on.handler
                && of.once.isEmpty()
                && !onLoop.isStanding()
                && on.isFree();
        if (may) {
            on.begin();
        }
        return may;
    }

    /// On the loop.
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

    /// It holds up the loop: from now on it runs as others do.
    private synchronized void giveUp(LoopHandler on) {
        if (onLoop.of(on.tag) == on) {
            onLoop.remove(on);
        }
    }

    /// A message of this node to itself whose handler runs on the loop. On the handlers' thread.
    private void runThere(LoopHandler on, Incoming own) {
        own.begin();
        onLoop.waitFor(
                () -> {
                    on.begin();
                    run(on, own);
                },
                () -> drop(own));
    }

    /// A handler that has taken the place of one on the loop runs after that. On the handlers' thread.
    private void awaitLoop(int tag) {
        if (isLoopRunning(tag)) {
            onLoop.waitFor(() -> {}, () -> {});
        }
    }

    private synchronized boolean isLoopRunning(int tag) {
        Tag of = tags.get(tag);
        return of != null && isLoopRunning(of);
    }

    private static boolean isLoopRunning(Tag of) {
        boolean runs = of.before != null && of.before.isRunning();
        if (!runs) {
            of.before = null;
        }
        return runs;
    }

    /// Those that run on the event loop. Any thread.
    public LoopHandlers onLoop() {
        return onLoop;
    }

    public void stopReceiving(int tag) {
        synchronized (this) {
            Tag of = tags.get(tag);
            LoopHandler before = onLoop.of(tag);
            if (before != null) {
                onLoop.remove(before);
            }
            if (of != null) {
                of.before = before == null ? of.before : before;
                of.handler = null;
                forget(tag, of);
            }
        }
    }

    public CompletionStage<Message> receiveOnce(int tag) {
        CompletableFuture<Message> future = new CompletableFuture<>();
        Incoming kept;
        synchronized (this) {
            kept = closed ? null : nextKept(tag, null);
            if (closed) {
                future.completeExceptionally(closed());
            } else if (kept == null) {
                tags.computeIfAbsent(tag, t -> new Tag()).once.add(future);
            }
        }
        if (kept != null) {
            kept.leave();
            future.complete(kept.message);
        }
        return future;
    }

    public Optional<Message> peek(int tag) {
        for (Message first = firstKept(tag); first != null; first = firstKept(tag)) {
            try {
                // not under the lock: the listener of handles is the user's
                return Optional.of(Incoming.with(first, first.buffer().share()));
            } catch (ReleasedBufferException handled) {
                // since it was looked at: another one is the first
            }
        }
        return Optional.empty();
    }

    private synchronized @Nullable Message firstKept(int tag) {
        Tag of = tags.get(tag);
        Incoming first = of == null ? null : of.kept.peek();
        return first == null ? null : first.message;
    }

    /// Bytes that messages without a receiver pin, with their headers.
    public synchronized long unclaimed() {
        return keptBytes;
    }

    /// Tags that are asked for, or of which something is kept.
    public synchronized int tags() {
        return tags.size();
    }

    /// Messages without a receiver, of each tag in order.
    public synchronized List<Incoming> kept() {
        List<Incoming> kept = new ArrayList<>();
        tags.values().forEach(tag -> kept.addAll(tag.kept));
        return kept;
    }

    /// On the handlerExecutor's thread.
    void deliver(Incoming incoming) {
        for (Object receiver = receiver(incoming); receiver != this; receiver = receiver(incoming)) {
            if (receiver instanceof MessageHandler handler) {
                LoopHandler on = incoming.isOwn() ? onLoop.of(incoming.message.tag()) : null;
                if (on != null && on.handler == handler) {
                    runThere(on, incoming);
                } else {
                    handle(handler, incoming);
                }
                return;
            }
            if (receiver == LOOP_RUNS) {
                onLoop.waitFor(() -> {}, () -> {});
            }
            if (receiver instanceof CompletableFuture<?> once && take(once, incoming)) {
                return;
            }
            if (receiver == CLOSED) {
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
        Iterator<Tag> all;
        synchronized (this) {
            all = tags.values().iterator();
            // from here on no tag comes or goes
            closed = true;
            keptBytes = 0;
            onLoop.stopWatching();
        }
        while (all.hasNext()) {
            Tag tag = all.next();
            for (Incoming kept = poll(tag.kept); kept != null; kept = poll(tag.kept)) {
                drop(kept);
            }
            for (var waiting = poll(tag.once); waiting != null; waiting = poll(tag.once)) {
                waiting.completeExceptionally(why);
            }
        }
    }

    private synchronized <T> @Nullable T poll(Queue<T> queue) {
        return queue.poll();
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
        incoming.begin();
        // before the future's dependents run
        incoming.leave();
        return ((CompletableFuture<Message>) once).complete(incoming.message);
    }

    /// A handler; or a future, which then is no longer asked; or the message, which has to be made compact before it
    /// is kept; or this, which has kept it; or that it is too late, or that the loop runs the handler before.
    private synchronized Object receiver(Incoming incoming) {
        if (closed) {
            return CLOSED;
        }
        Tag tag = tags.get(incoming.message.tag());
        if (tag != null && tag.kept.isEmpty()) {
            CompletableFuture<Message> once = tag.once.poll();
            if (once != null) {
                forget(incoming.message.tag(), tag);
                return once;
            }
            if (tag.handler != null) {
                return isLoopRunning(tag) ? LOOP_RUNS : tag.handler;
            }
        }
        if (!incoming.isCompact()) {
            return incoming;
        }
        keep(incoming);
        return this;
    }

    private void keep(Incoming incoming) {
        Message message = incoming.message;
        // what may fail first: it is then tried again
        tags.computeIfAbsent(message.tag(), t -> new Tag()).kept.add(incoming);
        incoming.begin();
        keptBytes += incoming.charge();
        if (keptBytes <= keep) {
            incoming.leave();
        } else if (Long.bitCount(++overLimit) == 1) {
            LOG.log(
                    Level.WARNING,
                    "no handler: rank=" + rank + " tag=" + message.tag() + " bytes=" + incoming.bytes + " unclaimed="
                            + keptBytes + " limit=" + keep + "; the sender waits");
        }
    }

    /// @param handler that it is for, if it is still the tag's; or `null`
    private synchronized @Nullable Incoming nextKept(int tag, @Nullable MessageHandler handler) {
        Tag of = tags.get(tag);
        Incoming kept = of == null || handler != null && of.handler != handler ? null : of.kept.poll();
        if (of != null && kept != null) {
            keptBytes -= kept.charge();
            forget(tag, of);
        }
        return kept;
    }

    /// Nothing is known of a tag that is not asked for and of which nothing is kept: peers choose tags, too. Under
    /// the lock.
    private void forget(int tag, Tag of) {
        if (!closed && of.handler == null && of.once.isEmpty() && of.kept.isEmpty() && !isLoopRunning(of)) {
            tags.remove(tag);
        }
    }

    private void handle(MessageHandler handler, Incoming incoming) {
        incoming.begin();
        try {
            handler.received(incoming.message);
        } catch (Throwable failure) {
            NodeLog.failed("handler failed", rank, "tag", incoming.message.tag(), failure);
        } finally {
            drop(incoming);
        }
    }

    /// Whose memory a user releases may fail, which costs no other message anything.
    private void drop(Incoming incoming) {
        try {
            incoming.drop();
        } catch (Throwable failure) {
            NodeLog.failed("release failed", rank, "tag", incoming.message.tag(), failure);
        }
    }
}
