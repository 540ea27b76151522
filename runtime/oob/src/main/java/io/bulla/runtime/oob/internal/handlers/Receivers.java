// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.internal.core.NodeLog;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Who receives which tag, and the messages without a receiver: all are kept, in order. Up to a bound they cost
/// their sender nothing; beyond it they hold its credit, so that it waits.
///
/// The lock is held to look, never while user code runs.
final class Receivers {

    private static final Logger LOG = NodeLog.LOG;
    // in place of a receiver
    static final Object CLOSED = new Object();
    static final Object LOOP_RUNS = new Object();
    static final Object KEPT = new Object();

    /// The state of one tag.
    static final class Tag {

        final SequencedSet<CompletableFuture<Message>> once = new LinkedHashSet<>();
        // links: an add that finds no heap leaves the others
        final Queue<Incoming> kept = new LinkedList<>();
        private @Nullable MessageHandler handler;
        // that ran on the loop before this handler, and perhaps still runs
        private @Nullable LoopHandler before;
    }

    private final int rank;
    private final long keep;
    private final LoopHandlers onLoop;
    // all under the lock
    private final Map<Integer, Tag> tags = new HashMap<>();
    private long keptBytes;
    private long overLimit;
    private boolean closed;

    /// @param keep bytes that messages without a receiver may pin, each counted with its header
    Receivers(int rank, long keep, LoopHandlers onLoop) {
        this.rank = rank;
        this.keep = keep;
        this.onLoop = onLoop;
    }

    /// @return false if this is closed
    synchronized boolean set(int tag, MessageHandler handler, @Nullable LoopHandler on) {
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
    synchronized boolean mayRun(LoopHandler on) {
        Tag of = tags.get(on.key);
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

    /// It holds up the loop: from now on it runs as others do.
    synchronized void giveUp(LoopHandler on) {
        if (onLoop.of(on.tag) == on) {
            onLoop.remove(on);
        }
    }

    /// Whether the loop still runs a handler whose place was taken.
    synchronized boolean isLoopRunning(int tag) {
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

    synchronized void stop(int tag) {
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

    /// @return the first message that is kept; or `null`, the future then waits for one; or that this is closed
    synchronized @Nullable Object keptOrWait(int tag, CompletableFuture<Message> once) {
        if (closed) {
            return CLOSED;
        }
        Incoming kept = nextKept(tag, null);
        if (kept == null) {
            ask(tags.computeIfAbsent(tag, t -> new Tag()), once);
        }
        return kept;
    }

    /// Or not: a set that has no heap to grow has taken it already.
    private static void ask(Tag of, CompletableFuture<Message> once) {
        boolean asks = false;
        try {
            asks = of.once.add(once);
        } finally {
            if (!asks) {
                of.once.remove(once);
            }
        }
    }

    /// It asks no more, for it is done.
    synchronized void giveUp(int tag, CompletableFuture<Message> once) {
        Tag of = tags.get(tag);
        if (of != null && of.once.remove(once)) {
            forget(tag, of);
        }
    }

    synchronized @Nullable Message firstKept(int tag) {
        Tag of = tags.get(tag);
        Incoming first = of == null ? null : of.kept.peek();
        return first == null ? null : first.message;
    }

    /// Bytes that messages without a receiver pin, with their headers.
    synchronized long unclaimed() {
        return keptBytes;
    }

    /// Tags that are asked for, or of which something is kept.
    synchronized int tags() {
        return tags.size();
    }

    /// Messages without a receiver, of each tag in order.
    synchronized List<Incoming> kept() {
        List<Incoming> kept = new ArrayList<>();
        tags.values().forEach(tag -> kept.addAll(tag.kept));
        return kept;
    }

    /// A handler; or a future, which then is no longer asked; or the message, which has to be made compact before it
    /// is kept; or that it is kept; or that it is too late, or that the loop runs the handler before.
    synchronized Object of(Incoming incoming) {
        if (closed) {
            return CLOSED;
        }
        Tag tag = tags.get(incoming.message.tag());
        if (tag != null && tag.kept.isEmpty()) {
            CompletableFuture<Message> once = pollOnce(tag);
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
        return KEPT;
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
    synchronized @Nullable Incoming nextKept(int tag, @Nullable MessageHandler handler) {
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

    /// From here on no tag comes or goes.
    ///
    /// @return all tags, of which what is kept and who waits is to be ended
    synchronized Iterable<Tag> close() {
        Iterable<Tag> all = tags.values();
        closed = true;
        keptBytes = 0;
        onLoop.stopWatching();
        return all;
    }

    synchronized <T> @Nullable T poll(Queue<T> queue) {
        return queue.poll();
    }

    synchronized @Nullable CompletableFuture<Message> pollOnce(Tag tag) {
        return tag.once.isEmpty() ? null : tag.once.removeFirst();
    }
}
