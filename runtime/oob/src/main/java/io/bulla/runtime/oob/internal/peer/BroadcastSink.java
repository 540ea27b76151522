// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.flow.Credit;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;

/// The broadcasts of a node, as its peers need them. On the loop.
public interface BroadcastSink {

    /// The peer that a broadcast has come from.
    public interface Sender {

        /// Any thread.
        int rank();

        /// Some of it is held no more. Any thread.
        void consumed(Credit credit, long charge);

        /// As before, of a class of credit. Any thread.
        void consumed(Credit credit, long charge, int depth);
    }

    /// Before memory is taken: whether a broadcast may come from a peer. Relays are trusted with what they hand
    /// on, so it has to be one: the origin or a node between.
    ///
    /// @throws IOException if not
    void checkFrom(Frame frame, int from) throws IOException;

    /// The class of credit of what comes down from an origin.
    int depth(int origin);

    /// A fragment has arrived, or a whole message, which continues what this peer has sent before; and
    /// ownership of `body`.
    void onFragment(Frame frame, SealedBuffer body, Sender from, Credit credit);

    /// The message that a peer was sending will not be continued by it.
    ///
    /// @param landed bytes of it that have come
    void onInterrupted(Frame begun, Sender from, Credit credit, long landed);

    /// A child has confirmed: all below it have the broadcast.
    void onConfirmed(Frame frame, SealedBuffer body, int from) throws IOException;

    /// The session with a peer is over, and with it what was begun to be confirmed to the peer: that is out of the
    /// lanes.
    void onSessionOver(int peer);
}
