// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.cut;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.broadcast.BroadcastKey;
import io.bulla.runtime.oob.internal.broadcast.OriginChecks;
import io.bulla.runtime.oob.internal.broadcast.OwnBroadcast;
import io.bulla.runtime.oob.internal.handlers.Incoming;
import io.bulla.runtime.oob.internal.node.HandleSet;
import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.RestoredNumbers;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/// A node takes over what a cut has: everything is prepared, with a handle each, before anything is handed on.
/// Before the node listens; what it leaves is the loop's and the handlers'.
public final class Restoration {

    private final NodeLoop nodeLoop;
    private final HandleSet outgoing;
    private final HandleSet arrived;
    private final List<Runnable> sessions = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private final List<OwnBroadcast> broadcasts = new ArrayList<>();

    public Restoration(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
        this.outgoing = new HandleSet(nodeLoop.context()::close);
        this.arrived = new HandleSet(nodeLoop.context()::close);
    }

    /// @throws io.bulla.buffer.ReleasedBufferException if the cut is closed; no handle is kept then
    public void restore(NodeCut cut) {
        boolean whole = false;
        try {
            prepare(cut);
            sessions.forEach(Runnable::run);
            for (Message message : messages) {
                nodeLoop.handlers().restore(message);
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
            sessions.add(session(nodeLoop.peers().peer(of.peer()), of));
        }
        for (Message message : cut.arrived()) {
            messages.add(Incoming.with(message, arrived.of(message.buffer(), null)));
        }
        Peer[] children = cut.broadcasts().isEmpty()
                ? new Peer[0]
                : nodeLoop.ownBroadcasts().children();
        for (Message message : cut.broadcasts()) {
            SendOptions options =
                    message.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
            broadcasts.add(again(message, options, children));
        }
    }

    /// Prepares to go on with one peer where a cut was taken.
    ///
    /// @return the rest of it, before the peer has a queue
    private Runnable session(Peer peer, NodeCut.OfPeer cut) {
        List<List<PendingSend>> lanes = new ArrayList<>();
        for (NodeCut.OfLane lane : cut.lanes()) {
            List<PendingSend> sends = new ArrayList<>();
            for (NodeCut.Outgoing message : lane.outgoing()) {
                sends.add(restored(peer, message));
            }
            lanes.add(sends);
        }
        return () -> peer.restore(cut.lanes(), lanes);
    }

    private PendingSend restored(Peer peer, NodeCut.Outgoing message) {
        SealedBuffer handle = message.bytes()
                .map(bytes -> outgoing.of(bytes, peer.tagOfSends()))
                .orElse(null);
        SendOptions options = message.format().map(SendOptions.DEFAULT::packed).orElse(SendOptions.DEFAULT);
        PendingSend send = new PendingSend(Frame.Kind.DIRECT, message.tag(), options, message.length(), handle, peer);
        send.sequence = RestoredNumbers.of(message.number());
        send.order = message.order();
        send.skipped = handle == null;
        return send;
    }

    /// In the name of this life, so that it is signed again.
    private OwnBroadcast again(Message message, SendOptions options, Peer[] children) {
        OriginChecks origins = nodeLoop.broadcasts().origins();
        BroadcastKey key = nodeLoop.broadcasts().newKey();
        SealedBuffer handle;
        if (origins.signs()) {
            try (SealedBuffer signed = origins.sign(key, message.tag(), options, message.buffer())) {
                handle = outgoing.of(signed, null);
            } catch (IOException noSignature) {
                throw new UncheckedIOException(
                        "broadcast of a cut cannot be signed: rank="
                                + nodeLoop.context().rank() + " tag=" + message.tag(),
                        noSignature);
            }
        } else {
            handle = outgoing.of(message.buffer(), null);
        }
        return nodeLoop.ownBroadcasts().make(key, message.tag(), options, origins.signs(), handle, children);
    }

    /// As if the program had sent it during a cut: it waits until the node listens.
    private void begin(OwnBroadcast broadcast) {
        for (Peer child : broadcast.children) {
            child.quota().take(broadcast.bytes);
        }
        nodeLoop.intake().waiting().add(broadcast);
    }
}
