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

    /// The state of one tag.
    private static final class Tag {

        private final Queue<CompletableFuture<Message>> once = new ArrayDeque<>();
        private final Queue<Incoming> kept = new ArrayDeque<>();
        private @Nullable MessageHandler handler;
    }

    private final int rank;
    private final long keep;
    private final MemorySource source;
    private final HandlerExecutor handlerExecutor;
    private final Failures failures;
    // all under the lock
    private final Map<Integer, Tag> tags = new HashMap<>();
    private long keptBytes;
    private long overLimit;
    private boolean closed;

    /// @param keep bytes that messages without a receiver may pin, each counted with its header
    /// @param source of copies of those that would pin more than they are
    public Handlers(int rank, long keep, MemorySource source, HandlerExecutor handlerExecutor, Failures failures) {
        this.rank = rank;
        this.keep = keep;
        this.source = source;
        this.handlerExecutor = handlerExecutor;
        this.failures = failures;
    }

    /// To the handlers, which own the message's handle from now on. Any thread if it is this node's own.
    ///
    /// @param from rank of the sender
    /// @param credit that the message holds, or `null` if it is this node's own
    public void dispatch(Message message, Incoming.Sender sender, int from, @Nullable Credit credit) {
        dispatch(new Incoming(message, this, sender, credit), from);
    }

    /// A broadcast, to the handlers.
    ///
    /// @param check that its handler waits for; or `null`
    public void dispatch(Message message, Incoming.Charge charge, Incoming.@Nullable Check check) {
        dispatch(Incoming.broadcast(message, this, charge, check), message.origin());
    }

    private void dispatch(Incoming incoming, int from) {
        FlightEvents.received(rank, from, incoming.message, incoming.bytes);
        handlerExecutor.put(incoming);
    }

    public void receive(int tag, MessageHandler handler) {
        synchronized (this) {
            if (closed) {
                return;
            }
            tags.computeIfAbsent(tag, t -> new Tag()).handler = handler;
        }
        handlerExecutor.put(new HandlerExecutor.Item() {
            @Override
            public void run() {
                for (Incoming kept = nextKept(tag, handler); kept != null; kept = nextKept(tag, handler)) {
                    handle(handler, kept);
                }
            }
        });
    }

    public void stopReceiving(int tag) {
        synchronized (this) {
            Tag of = tags.get(tag);
            if (of != null) {
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
                handle(handler, incoming);
                return;
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
    /// is kept; or this, which has kept it; or that it is too late.
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
                return tag.handler;
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
        if (!closed && of.handler == null && of.once.isEmpty() && of.kept.isEmpty()) {
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
