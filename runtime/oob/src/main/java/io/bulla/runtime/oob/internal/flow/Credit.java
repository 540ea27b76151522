// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.flow;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/// The credit of one peer in one lane of one session: the receiver's side.
///
/// Every message has a charge, its bytes and a header's, and so a place in the stream of all charges of its
/// lane, which both ends count alike. The receiver grants the stream up to a place; who sends begins a message
/// only if it ends before that, or if the receiver holds nothing else of the lane. Nothing of this stops a
/// socket: acknowledgements, credit and control flow whatever is held.
///
/// ```
/// 0 ........ consumed ........ arrived ............ limit
///            |-- held here --|-- may be begun --|
///            |------------ window --------------|
/// ```
///
/// Ordering: `wantedAt` is set before the held bytes are looked at, and bytes are consumed before `wantedAt` is
/// looked at: one of the two sees the other, so a sender that waits is told.
///
/// The event loop counts what arrives and other threads what is consumed, a step of each for each message. Both
/// have cache lines of their own, and the loop looks at the other's only when what it saw last would not do: with
/// both counts in one line, a message of 64 bytes took 8 % longer (docs/performance/oob.md).
public final class Credit {

    /// The charge of a message beyond its bytes.
    public static final int HEADER = 64;

    // longs from one place in an array to where another array's may be, more than a pair of cache lines
    private static final int APART = 16;
    private static final int SPACED = 2 * APART;
    private static final int ARRIVED = APART;
    private static final int CONSUMED_SEEN = APART + 1;

    private final long window;
    // at APART: charges of messages without a holder; volatile steps: see the ordering
    private final AtomicLongArray consumed = new AtomicLongArray(SPACED);
    // the loop's: what has arrived, and of that what it has seen consumed
    private final long[] loops = new long[SPACED];
    // what had arrived when the sender began to wait, or -1; volatile: see the ordering
    private volatile long wantedAt = -1;
    // volatile: an early or late look costs one frame more
    private volatile long told;
    // broadcasts that are held, by their depth; volatile steps: see the ordering
    private final AtomicIntegerArray deep = new AtomicIntegerArray(Allowance.CLASSES);

    /// @param window bytes that may be held, headers included
    public Credit(long window) {
        this.window = window;
        this.told = window;
    }

    /// @return what a message is charged
    public static long charge(long bytes) {
        return bytes + HEADER;
    }

    /// Whether a message may begin, by what was granted.
    ///
    /// @param depth class of the message
    public boolean admits(long bytes, int depth) {
        long next = loops[ARRIVED] + charge(bytes);
        if (next - loops[CONSUMED_SEEN] <= window) {
            return true;
        }
        // volatile: what was granted is never more than this
        loops[CONSUMED_SEEN] = consumed.get(APART);
        long held = loops[ARRIVED] - loops[CONSUMED_SEEN];
        return held == 0 || next - loops[CONSUMED_SEEN] <= window || depth > 0 && deep.get(depth) == 0;
    }

    /// A message is complete, or was skipped; it is held until it is consumed.
    public void arrived(long bytes) {
        loops[ARRIVED] += charge(bytes);
    }

    /// A broadcast of a depth has arrived.
    public void hold(int depth) {
        deep.incrementAndGet(depth);
    }

    /// A broadcast is held no more. Any thread.
    ///
    /// @return true if the sender is to be told
    public boolean consume(long charge, int depth) {
        // volatile: see the ordering
        boolean last = depth > 0 && deep.decrementAndGet(depth) == 0;
        return consume(charge) || last && wantedAt >= 0;
    }

    /// The depths of which nothing is held.
    ///
    /// @return a bit for each
    public int empty() {
        int mask = 0;
        for (int depth = 1; depth < Allowance.CLASSES; depth++) {
            mask |= deep.get(depth) == 0 ? 1 << depth : 0;
        }
        return mask;
    }

    /// Charges of messages that are held no more. Any thread.
    ///
    /// @return true if the sender is to be told
    public boolean consume(long charge) {
        // volatile: see the ordering
        long now = consumed.addAndGet(APART, charge);
        long more = now + window - told;
        long at = wantedAt;
        return more > 0 && (more >= window / 4 || at >= 0 && (more >= window / 16 || now == at));
    }

    /// The next grant for the sender: how far it may go.
    public long tell() {
        // volatile: see the ordering
        told = consumed.get(APART) + window;
        return told;
    }

    /// The sender has said whether it waits for credit: true until it says something else, for it does not ask
    /// again before it was granted more.
    ///
    /// @return true if it waits and there is more than it was told
    public boolean want(boolean waits) {
        if (waits || wantedAt >= 0) {
            wantedAt = waits ? loops[ARRIVED] : -1;
        }
        // volatile: see the ordering
        return waits && consumed.get(APART) + window > told;
    }

    /// @return charges of what has arrived and is held
    public long held() {
        return loops[ARRIVED] - consumed.get(APART);
    }

    /// @return whether the sender has been granted no more than half of a window
    public boolean isLow() {
        return held() >= window / 2;
    }
}
