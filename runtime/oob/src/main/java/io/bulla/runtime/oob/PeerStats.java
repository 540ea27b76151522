// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.time.Duration;
import java.util.Optional;

/// One peer as seen from this node, at one moment. The counts only grow while the node lives.
///
/// @param peer its rank
/// @param state whether there is a connection
/// @param sentMessages messages that the peer acknowledged
/// @param sentBytes of those messages
/// @param receivedMessages messages that have arrived, without duplicates
/// @param receivedBytes of those messages
/// @param resends messages whose first byte was written again, after a reconnect
/// @param duplicates messages that arrived again, and were dropped
/// @param connections that carried the session, one after the other
/// @param failures verdicts
/// @param queuedMessages on their way to the peer, from the send to the acknowledgement
/// @param queuedBytes of those messages
/// @param oldest how long the oldest of them has been on its way
/// @param waitingBytes arrived, and waiting for the handlers, each message counted with its header
/// @param leases what the peer has of this node's [LocalMemory], former connections included
/// @param leasedBytes of these leases
public record PeerStats(
        int peer,
        State state,
        long sentMessages,
        long sentBytes,
        long receivedMessages,
        long receivedBytes,
        long resends,
        long duplicates,
        long connections,
        long failures,
        long queuedMessages,
        long queuedBytes,
        Optional<Duration> oldest,
        long waitingBytes,
        int leases,
        long leasedBytes) {

    /// Whether there is a connection to the peer.
    public enum State {
        /// None, and nothing that needs one.
        IDLE,
        /// None, but it is tried.
        SEEKING,
        /// One that works, as far as is known.
        CONNECTED,
        /// One that is not read, because the handlers lag behind.
        PAUSED
    }
}
