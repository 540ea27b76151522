// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.internal.core.LoopContext;
import io.bulla.runtime.oob.internal.session.Session;
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
public final class MemoryShortage {

    private static final long FIRST_PAUSE_NANOS = 10_000_000;
    private static final int DOUBLINGS = 6;

    private final LoopContext context;
    private final int peer;
    private final Session session;
    private boolean lasts;
    private long since;
    private int retries;

    public MemoryShortage(LoopContext context, int peer, Session session) {
        this.context = context;
        this.peer = peer;
        this.session = session;
    }

    /// A frame could not be taken in.
    public void begins(Connection connection, Frame frame, RuntimeException why) {
        long loopTime = context.loopTime();
        if (!lasts || session.held() > 0) {
            lasts = true;
            since = loopTime;
        } else if (frame.kind().isSequenced()
                && loopTime - since >= context.settings().peerTimeoutNanos()) {
            connection.owed().reject(frame, "no memory for it: " + why.getMessage());
            lasts = false;
        }
        begins(connection, "no memory: peer=" + peer + " reason=" + why.getMessage());
    }

    /// A broadcast could not be taken in, since it would have to be confirmed.
    public void beginsForConfirmations(Connection connection, int owed) {
        begins(connection, "confirmations are not acknowledged: peer=" + peer + " count=" + owed);
    }

    private void begins(Connection connection, String what) {
        session.dropParts();
        context.debug(what);
        connection.owed().oweRetry();
        connection.sayOwed();
    }

    /// A message was taken in, here or by the peer.
    public void isOver() {
        lasts = false;
        retries = 0;
    }

    /// How long to wait before all is sent again.
    public long pauseNanos() {
        return FIRST_PAUSE_NANOS << Math.min(retries++, DOUBLINGS);
    }
}
