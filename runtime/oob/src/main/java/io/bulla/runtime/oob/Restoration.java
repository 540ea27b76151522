// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    private final List<BroadcastSend> broadcasts = new ArrayList<>();

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
            broadcasts.forEach(this::begin);
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
        int rank = nodeLoop.settings().rank();
        int[] children = cut.broadcasts().isEmpty()
                ? new int[0]
                : nodeLoop.broadcasts().tree().children(rank, rank);
        for (Message message : cut.broadcasts()) {
            SendOptions options =
                    message.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
            broadcasts.add(again(message, options, nodeLoop.peer(rank), children));
        }
    }

    /// In the name of this life, so that it is signed again.
    private BroadcastSend again(Message message, SendOptions options, Peer self, int[] children) {
        OriginChecks origins = nodeLoop.broadcasts().origins();
        BroadcastKey key = nodeLoop.broadcasts().newKey();
        SealedBuffer handle;
        if (origins.signs()) {
            try (SealedBuffer signed = origins.sign(key, message.tag(), options, message.buffer())) {
                handle = outgoing.of(signed, null);
            } catch (IOException noSignature) {
                throw new UncheckedIOException(
                        "broadcast of a cut cannot be signed: rank=" + self.rank() + " tag=" + message.tag(),
                        noSignature);
            }
        } else {
            handle = outgoing.of(message.buffer(), null);
        }
        return BroadcastSend.begin(key, message.tag(), options, origins.signs(), handle, self, children);
    }

    /// As if the program had sent it during a cut: it waits until the node listens.
    private void begin(BroadcastSend broadcast) {
        for (int child : broadcast.children) {
            nodeLoop.peer(child).quota.take(broadcast.bytes);
        }
        nodeLoop.waitingBroadcasts().add(broadcast);
    }
}
