// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

/// Treatment of a subscriber whose queue is full.
public enum SlowPolicy {
    /// Its oldest waiting messages are dropped, and counted. What it gets is in order, with gaps.
    DROP_OLDEST,

    /// At most one message waits, the newest; the one before it is dropped, and counted. For a state that each
    /// message holds whole.
    LATEST_ONLY,

    /// A waiting message of the same key is replaced, in its place, by the new one, and counted as dropped: a
    /// subscriber gets the last message of each key. One whose queue is full of other keys is disconnected as by
    /// `DISCONNECT`.
    CONFLATE,

    /// The subscriber is closed with [End.TooSlow]: it gets every message up to the end, or is told. The default.
    DISCONNECT,

    /// The publisher waits for room, for all subscribers together no longer than its patience; a subscriber that
    /// still has none is disconnected as by `DISCONNECT`.
    WAIT
}
