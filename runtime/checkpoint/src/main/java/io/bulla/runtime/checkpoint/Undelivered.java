// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

/// A message of a checkpoint that was not handled yet.
///
/// @param kind where it was
/// @param peer rank of the receiver; of what has arrived, of the sender; of a broadcast, of the node itself
/// @param tag of the message
/// @param number in its lane of the session, from 0; -1 if it has none
/// @param bytes its length
public record Undelivered(Kind kind, int peer, int tag, long number, long bytes) {

    /// Where a message was at the cut.
    public enum Kind {
        /// On its way to a peer, which may have it already: then it drops it by its number.
        OUTGOING,
        /// Taken in, and not handled.
        ARRIVED,
        /// A broadcast that had not begun.
        BROADCAST
    }
}
