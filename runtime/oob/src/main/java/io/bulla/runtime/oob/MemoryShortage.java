// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.wire.Frame;

/// What happens when there is no memory for what a peer sends: the peer sends it again later, and nothing else
/// of the connection stops.
///
/// ```
/// receiver: no memory --RETRY--> drops what is sequenced ........................ --RESUME--> takes again
/// sender:                        RETRY: waits, 10 ms to 1 s, then RESUME and all that is not acknowledged
/// ```
///
/// A message for which there is no memory although the node holds nothing else of the peer, for the peer
/// timeout, is rejected by name. One event loop's.
final class MemoryShortage {

    private static final long FIRST_PAUSE_NANOS = 10_000_000;
    private static final int DOUBLINGS = 6;

    private final NodeLoop nodeLoop;
    private final Peer peer;
    private final Session session;
    private boolean lasts;
    private long since;
    private int retries;

    MemoryShortage(NodeLoop nodeLoop, Peer peer, Session session) {
        this.nodeLoop = nodeLoop;
        this.peer = peer;
        this.session = session;
    }

    /// A frame could not be taken in.
    void begins(Connection connection, Frame frame, RuntimeException why) {
        long awake = nodeLoop.awake();
        if (!lasts || session.held() > 0) {
            lasts = true;
            since = awake;
        } else if (frame.kind().isSequenced()
                && awake - since >= nodeLoop.settings().peerTimeoutNanos()) {
            connection.owed().reject(frame, "no memory for it: " + why.getMessage());
            lasts = false;
        }
        begins(connection, "no memory: peer=" + peer.rank() + " reason=" + why.getMessage());
    }

    /// A broadcast could not be taken in, since it would have to be confirmed.
    void beginsForConfirmations(Connection connection, int owed) {
        begins(connection, "confirmations are not acknowledged: peer=" + peer.rank() + " count=" + owed);
    }

    private void begins(Connection connection, String what) {
        session.dropParts();
        nodeLoop.debug(what);
        connection.owed().oweRetry();
        connection.sayOwed();
    }

    /// A message was taken in, here or by the peer.
    void isOver() {
        lasts = false;
        retries = 0;
    }

    /// How long to wait before all is sent again.
    long pauseNanos() {
        return FIRST_PAUSE_NANOS << Math.min(retries++, DOUBLINGS);
    }
}
