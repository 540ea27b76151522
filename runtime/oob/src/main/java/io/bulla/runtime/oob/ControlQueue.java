// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.wire.Frame;
import org.jspecify.annotations.Nullable;

/// What one connection owes the peer beside the lanes: one frame of a kind at most, written when the channel takes it.
/// A newer answer replaces the one before it, so a peer that asks again and again, and reads nothing, makes this node
/// keep no more than what stands here. One event loop's.
final class ControlQueue {

    private record Rejection(Frame message, String why) {}

    private final Connection connection;
    private boolean ack;
    private boolean retry;
    private boolean resume;
    private @Nullable Rejection rejection;
    private @Nullable Frame answer;

    ControlQueue(Connection connection) {
        this.connection = connection;
    }

    /// What was taken in, and what is granted.
    void oweAck() {
        ack = true;
    }

    /// There was no room for what came.
    void oweRetry() {
        retry = true;
    }

    /// What follows is all that was not acknowledged.
    void oweResume() {
        resume = true;
    }

    /// Whether nothing of a lane may be written before the RESUME is.
    boolean owesResume() {
        return resume;
    }

    /// A message is not taken.
    void reject(Frame message, String why) {
        rejection = new Rejection(message, why);
    }

    /// To the latest REQUEST: the peer looks for no earlier one.
    void answer(Frame clear) {
        answer = clear;
    }

    /// The channel takes more.
    ///
    /// @param peer acknowledges
    /// @return whether there was something
    boolean write(Peer peer) {
        boolean some = ack || retry || resume || rejection != null || answer != null;
        Rejection refused = rejection;
        if (refused != null) {
            rejection = null;
            connection.reject(refused.message, refused.why);
        }
        if (retry) {
            retry = false;
            connection.control(Frame.Kind.RETRY);
        }
        if (resume) {
            resume = false;
            connection.control(Frame.Kind.RESUME);
        }
        Frame clear = answer;
        if (clear != null) {
            answer = null;
            connection.control(clear);
        }
        if (ack) {
            ack = false;
            connection.control(peer.acknowledgement());
        }
        return some;
    }
}
