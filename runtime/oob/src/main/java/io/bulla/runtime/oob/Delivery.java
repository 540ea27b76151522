// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.time.Duration;

/// A send that has succeeded.
///
/// @param peer rank of the peer
/// @param tag of the message
/// @param status how far it is known to have come
/// @param bytes of its body
/// @param attempts how often its first byte was written to a connection: more than 1 after a reconnect, 0 if it
///     went to the node itself
/// @param nanos from the send to its completion
public record Delivery(int peer, int tag, Status status, long bytes, int attempts, long nanos) {

    /// How far a message is known to have come.
    public enum Status {
        /// The socket has taken all bytes.
        WRITTEN,
        /// The peer has it: its handler will be, or was, called once, unless the peer ends first.
        ACKNOWLEDGED
    }

    /// From the send to its completion.
    ///
    /// @return at least 0
    public Duration duration() {
        return Duration.ofNanos(nanos);
    }
}
