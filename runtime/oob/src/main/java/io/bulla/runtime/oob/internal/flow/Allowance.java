// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.flow;

import java.util.Arrays;

/// The credit of this node in one lane of one session: the sender's side of a [Credit].
///
/// A relay holds a broadcast until the nodes below have it, so relays wait for each other. That this never
/// becomes a ring: a message that is `d` steps below the child of its origin may use all of the window but its
/// `2^(d+1)`th part, and the only one of its depth may always go. What is deeper always finds a place that what
/// is less deep cannot take, and the deepest waits for handlers only.
///
/// One event loop's.
public final class Allowance {

    /// The deepest class; what is deeper shares it.
    public static final int CLASSES = 8;

    private long window = Long.MAX_VALUE / 4;
    private long limit = window;
    private long begun;
    // of each depth, begun and not acknowledged
    private final int[] inFlight = new int[CLASSES];
    // depths of which the peer holds nothing
    private int empty = -1;

    /// A session begins, with a peer that grants a window from the start.
    public void open(long peersWindow) {
        if (begun == 0) {
            window = peersWindow;
            limit = peersWindow;
        }
    }

    /// The session has a new connection. What the peer holds of each depth is not known until it says so: what was
    /// not acknowledged on the last one may have arrived, and be held.
    public void reconnected() {
        if (begun > 0) {
            empty = 0;
        }
    }

    /// The session is over.
    public void reset() {
        begun = 0;
        limit = window;
        empty = -1;
        Arrays.fill(inFlight, 0);
    }

    /// Whether a message may begin.
    ///
    /// @param depth class of the message, 0 to 7
    public boolean admits(long bytes, int depth) {
        long consumed = limit - window;
        return begun == consumed
                || begun + Credit.charge(bytes) <= limit - (window >> (depth + 1))
                || depth > 0 && inFlight[depth] == 0 && (empty & 1 << depth) != 0;
    }

    /// How far it may go, in charges of all messages.
    public long limit() {
        return limit;
    }

    /// A message has begun.
    public void begin(long bytes, int depth) {
        begun += Credit.charge(bytes);
        inFlight[depth]++;
    }

    /// A message was acknowledged.
    public void acknowledged(int depth) {
        inFlight[depth]--;
    }

    /// The peer grants more.
    ///
    /// @param emptyDepths those of which it holds nothing
    /// @return false if it cannot have consumed so much
    public boolean grant(long upTo, int emptyDepths) {
        empty = emptyDepths;
        if (upTo - window > begun) {
            return false;
        }
        limit = Math.max(limit, upTo);
        return true;
    }
}
