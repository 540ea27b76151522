// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.util.ArrayList;
import java.util.List;

/// A node takes over what a cut has: everything is prepared, with a handle each, before anything is handed on.
/// Before the node listens; what it leaves is the loop's and the handlers'.
final class Restoration {

    private final NodeLoop nodeLoop;
    private final Shares outgoing;
    private final Shares arrived;
    private final List<Runnable> sessions = new ArrayList<>();
    private final List<Incoming> messages = new ArrayList<>();

    Restoration(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
        this.outgoing = new Shares(nodeLoop::close);
        this.arrived = new Shares(nodeLoop::close);
    }

    /// @throws io.bulla.buffer.ReleasedBufferException if the cut is closed; no handle is kept then
    void restore(NodeCut cut) {
        boolean whole = false;
        try {
            prepare(cut);
            sessions.forEach(Runnable::run);
            for (Incoming message : messages) {
                nodeLoop.handlerExecutor().put(message);
                arrived.give();
            }
            whole = true;
        } finally {
            if (!whole) {
                outgoing.close();
                arrived.close();
            }
        }
    }

    private void prepare(NodeCut cut) {
        for (NodeCut.OfPeer of : cut.peers()) {
            sessions.add(nodeLoop.peer(of.peer()).restoring(of, outgoing));
        }
        for (Message message : cut.arrived()) {
            Message shared = message.with(arrived.of(message.buffer(), null));
            messages.add(new Incoming(shared, nodeLoop.handlers(), null, null));
        }
    }
}
