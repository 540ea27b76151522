// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.flow.Allowance;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The messages to one peer that share a sequence, from the queue to the acknowledgement.
///
/// ```
/// fresh --has credit, first byte: gets its number--> begun --last byte--> unacked --ACK--> gone
///                                                      ^                     |
///                                                      +-- a new connection: from byte 0
/// ```
///
/// Fresh ones wait by the depth of their credit ([Allowance]): what has none lets what is deeper below its
/// origin go first, and nothing else. One event loop's.
public final class Lane {

    public static final int SMALL = 0;
    public static final int BULK = 1;
    /// Of confirmations: needs no credit.
    public static final int CONTROL = 2;

    public static final int COUNT = 3;

    public final int code;
    final Allowance allowance = new Allowance();
    /// Numbered, to be written in order, the first of them perhaps in part.
    public final SendList begun = new SendList();
    /// Written to the last byte.
    public final SendList unacked = new SendList();

    private final SendList[] fresh = new SendList[Allowance.CLASSES];
    private final Map<Integer, Integer> tags = new HashMap<>();
    // a bit for each depth of which something is fresh
    private int depths;
    private long next;
    private long acknowledged;
    private long resends;
    // what has no number gets none
    private boolean holds;

    Lane(int code) {
        this.code = code;
        for (int i = 0; i < fresh.length; i++) {
            fresh[i] = new SendList();
        }
    }

    /// Number of the next message that gets one.
    public long next() {
        return next;
    }

    /// Whether what has no number waits.
    void hold(boolean hold) {
        holds = hold;
    }

    /// Messages that were begun again.
    long resends() {
        return resends;
    }

    public int size() {
        int size = begun.size() + unacked.size();
        for (SendList list : fresh) {
            size += list.size();
        }
        return size;
    }

    boolean holds(int tag) {
        return tags.containsKey(tag);
    }

    public void add(PendingSend send) {
        send.lane = (byte) code;
        fresh[send.depth].addLast(send);
        depths |= 1 << send.depth;
        count(send);
    }

    private void count(PendingSend send) {
        if (code == BULK) {
            tags.merge(send.tag, 1, Integer::sum);
        }
    }

    /// The message to be written now, or `null`: there is none, or none that may.
    @Nullable
    public PendingSend head(int fragment) {
        return headBehind(null, fragment);
    }

    /// The message to be written now, or `null`. One of a depth of which the other lane has an older one waits, since
    /// that may be of its tag; one of another depth does not: nodes would wait for each other in a ring.
    @Nullable
    public PendingSend headBehind(@Nullable Lane other, int fragment) {
        PendingSend first = begun.first();
        if (first != null) {
            return first.isReady(fragment) && !isBehind(other, first) ? first : null;
        }
        PendingSend oldest = null;
        for (int left = holds ? 0 : depths; left != 0; left &= left - 1) {
            // its bit says that there is one
            PendingSend send = Objects.requireNonNull(fresh[Integer.numberOfTrailingZeros(left)].first(), "fresh");
            if ((oldest == null || send.order < oldest.order)
                    && !isBehind(other, send)
                    && (code == CONTROL || allowance.admits(send.bytes, send.depth))
                    && send.isReady(fragment)) {
                oldest = send;
            }
        }
        return oldest;
    }

    private static boolean isBehind(@Nullable Lane other, PendingSend send) {
        return other != null && send.offset == 0 && send.order > other.firstOrder(send.depth);
    }

    /// Whether something waits for credit.
    boolean isBlocked() {
        if (code == CONTROL || holds || !begun.isEmpty()) {
            return false;
        }
        for (SendList list : fresh) {
            PendingSend first = list.first();
            if (first != null && !allowance.admits(first.bytes, first.depth)) {
                return true;
            }
        }
        return false;
    }

    /// When the first message of a depth was queued that is still to be written. What is written again comes before
    /// all: it is in the order of its numbers, which is not that of the queue where what is deeper has gone first.
    long firstOrder(int depth) {
        if (!begun.isEmpty()) {
            return Long.MIN_VALUE;
        }
        PendingSend first = fresh[depth].first();
        return first == null ? Long.MAX_VALUE : first.order;
    }

    /// Whether something stands behind the one that is being written.
    public boolean isWaitedFor() {
        return begun.size() + unacked.size() < size() || begun.size() > 1;
    }

    /// How many messages of about one kind may follow.
    public int waiting() {
        return size() - unacked.size();
    }

    /// The oldest message, or `null`.
    @Nullable
    PendingSend oldest() {
        PendingSend oldest = older(unacked.first(), begun.first());
        for (SendList each : fresh) {
            // what is deeper may overtake what waits for credit
            oldest = older(oldest, each.first());
        }
        return oldest;
    }

    private static @Nullable PendingSend older(@Nullable PendingSend one, @Nullable PendingSend other) {
        return one == null || other != null && other.order < one.order ? other : one;
    }

    /// A message begins at byte 0, with a number, if it has none.
    public void begin(PendingSend send) {
        if (send.sequence < 0) {
            allowance.begin(send.bytes, send.depth);
            takeFresh(send);
            send.sequence = next++;
            begun.addLast(send);
        }
        if (send.attempts++ > 0) {
            resends++;
        }
    }

    /// Its last byte was written.
    public void written(PendingSend send) {
        begun.remove(send);
        send.written = true;
        unacked.addLast(send);
    }

    /// Takes a message out, wherever it is.
    public void remove(PendingSend send) {
        if (send.sequence < 0) {
            takeFresh(send);
        } else {
            (send.written ? unacked : begun).remove(send);
        }
        send.lane = PendingSend.NO_LANE;
        if (code == BULK) {
            tags.computeIfPresent(send.tag, (tag, count) -> count == 1 ? null : count - 1);
        }
    }

    private void takeFresh(PendingSend send) {
        fresh[send.depth].remove(send);
        if (fresh[send.depth].isEmpty()) {
            depths &= ~(1 << send.depth);
        }
    }

    /// Its numbers and messages: those with a number in its order, then the others in that of the queue.
    NodeCut.OfLane cut(long expected, Function<PendingSend, NodeCut.Outgoing> each) {
        List<PendingSend> waiting = waitingDirect();
        List<NodeCut.Outgoing> outgoing = new ArrayList<>(unacked.size() + begun.size() + waiting.size());
        for (SendList list : List.of(unacked, begun)) {
            for (PendingSend send = list.first(); send != null; send = send.next) {
                outgoing.add(each.apply(send));
            }
        }
        for (PendingSend send : waiting) {
            outgoing.add(each.apply(send));
        }
        return new NodeCut.OfLane(next, acknowledged, expected, outgoing);
    }

    /// Others have neither number nor place in a cut. In order, which they mostly have: a cut stops the loop.
    private List<PendingSend> waitingDirect() {
        int most = 0;
        for (SendList list : fresh) {
            most += list.size();
        }
        List<PendingSend> waiting = new ArrayList<>(most);
        boolean ordered = true;
        long last = Long.MIN_VALUE;
        for (SendList list : fresh) {
            for (PendingSend send = list.first(); send != null; send = send.next) {
                if (send.kind == Frame.Kind.DIRECT) {
                    ordered &= last <= send.order;
                    last = send.order;
                    waiting.add(send);
                }
            }
        }
        if (!ordered) {
            waiting.sort(Comparator.comparingLong(send -> send.order));
        }
        return waiting;
    }

    /// Goes on where a cut was taken; nothing was queued yet. What has a number is written again when the peer has
    /// said what it has of it.
    void restore(long nextNumber, long acknowledgedBefore, List<PendingSend> sends) {
        next = RestoredNumbers.of(nextNumber);
        acknowledged = RestoredNumbers.of(acknowledgedBefore);
        for (PendingSend send : sends) {
            if (send.sequence < 0) {
                add(send);
            } else {
                send.lane = (byte) code;
                begun.addLast(send);
                count(send);
            }
        }
    }

    /// What is begun, and nothing else, is what the peer is to grant from now on.
    void chargeBegun() {
        allowance.reset();
        for (PendingSend send = begun.first(); send != null; send = send.next) {
            allowance.begin(send.bytes, send.depth);
        }
    }

    /// Whether a peer can expect `expected` next.
    boolean accepts(long expected) {
        return expected >= acknowledged && expected <= next;
    }

    /// The peer has everything before `expected`.
    void acknowledge(long expected, Consumer<PendingSend> gone) {
        acknowledged = expected;
        // after a reconnect they may be waiting to be written again
        drop(unacked, expected, gone);
        drop(begun, expected, gone);
    }

    private void drop(SendList list, long expected, Consumer<PendingSend> gone) {
        for (PendingSend send = list.first(); send != null && send.sequence < expected; send = list.first()) {
            allowance.acknowledged(send.depth);
            remove(send);
            gone.accept(send);
        }
    }

    /// The message with a number that was not acknowledged, or `null`.
    @Nullable
    public PendingSend numbered(long sequence) {
        if (sequence < acknowledged || sequence >= next) {
            return null;
        }
        PendingSend found = find(unacked, send -> send.sequence == sequence);
        return found != null ? found : find(begun, send -> send.sequence == sequence);
    }

    private static @Nullable PendingSend find(SendList list, Predicate<PendingSend> what) {
        PendingSend send = list.first();
        while (send != null && !what.test(send)) {
            send = send.next;
        }
        return send;
    }

    /// A message that is still to be written, or `null`: one that is not skipped, of those that `which` names.
    @Nullable
    PendingSend firstWaiting(Predicate<PendingSend> which) {
        Predicate<PendingSend> wanted = send -> !send.skipped && which.test(send);
        PendingSend found = find(begun, wanted);
        for (int i = 0; i < fresh.length && found == null; i++) {
            found = find(fresh[i], wanted);
        }
        return found;
    }

    /// A new connection: what is not acknowledged is written again, from byte 0.
    void rewind() {
        begun.addAllFirst(unacked);
        for (PendingSend send = begun.first(); send != null; send = send.next) {
            send.written = false;
            send.offset = 0;
        }
    }

    /// The session is over: takes out what was begun.
    void abandon(Consumer<PendingSend> each) {
        rewind();
        drop(begun, Long.MAX_VALUE, each);
        next = 0;
        acknowledged = 0;
        allowance.reset();
    }

    /// The peer is given up: takes out everything.
    void abandonAll(Consumer<PendingSend> each) {
        abandon(each);
        for (SendList list : fresh) {
            for (PendingSend send = list.first(); send != null; send = list.first()) {
                remove(send);
                each.accept(send);
            }
        }
    }
}
