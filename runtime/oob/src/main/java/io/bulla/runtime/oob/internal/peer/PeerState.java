// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

/// The state of a peer, as its parts see it.
///
/// ```
/// IDLE --send--> SEEKING --hello both ways--> CONNECTED --lost--> IDLE, and SEEKING at once
///   ^               |                             |
///   +-- suspended --+---- a verdict, a goodbye ---+--> GIVEN_UP --send--> SEEKING, --hello--> CONNECTED
/// ```
enum PeerState {
    /// No connection, and nothing that needs one.
    IDLE,
    /// No connection, but it is tried.
    SEEKING,
    /// A connection carries the session.
    CONNECTED,
    /// The verdict stands: nothing was sent to it since, and it was not heard.
    GIVEN_UP;

    /// Whether this step can be.
    boolean mayBecome(PeerState next) {
        return switch (this) {
            case IDLE -> next != IDLE;
            case SEEKING -> next != SEEKING;
            case CONNECTED -> next != SEEKING;
            case GIVEN_UP -> next != IDLE;
        };
    }
}
