// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.cut;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.internal.handlers.Incoming;
import io.bulla.runtime.oob.internal.node.CutGate;
import io.bulla.runtime.oob.internal.node.HandleSet;
import io.bulla.runtime.oob.internal.node.NodeLoop;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Takes a node's cut: the handlers' thread stands between two messages while the event loop looks, so that what
/// handlers have sent is in it, and what they send later is not.
///
/// ```
/// handlers' thread   ... message | the program's own | waits ...................... | message ...
/// event loop                                          drains the intake, shares
/// ```
public final class Cuts {

    private final NodeLoop nodeLoop;

    public Cuts(NodeLoop nodeLoop) {
        this.nodeLoop = nodeLoop;
    }

    /// Any thread.
    ///
    /// @param between run on the handlers' thread right before the cut
    public CompletableFuture<NodeCut> take(Runnable between) {
        return take(between, null);
    }

    /// As [#take(Runnable)], of a node that goes on.
    public CompletableFuture<NodeCut> take(Runnable between, @Nullable CutGate hold) {
        CompletableFuture<NodeCut> cut = new CompletableFuture<>();
        HandlerExecutor.Item item = new HandlerExecutor.Item() {
            @Override
            public void run() {
                try {
                    // what a handler on the loop has done is in what is saved, or its message is in the cut
                    nodeLoop.handlers().onLoop().stand();
                    between.run();
                    // the loop does not wait for this thread
                    onLoop(cut, hold).join();
                } catch (Throwable failure) {
                    cut.completeExceptionally(failure);
                } finally {
                    nodeLoop.handlers().onLoop().goOn();
                }
            }

            @Override
            public void drop() {
                cut.completeExceptionally(closed());
            }
        };
        if (hold == null) {
            nodeLoop.handlerExecutor().put(item);
        } else {
            // peers wait for this one
            nodeLoop.handlerExecutor().putFirst(item);
        }
        return cut;
    }

    /// @return completes when the loop has looked, and completed the cut
    private CompletableFuture<Void> onLoop(CompletableFuture<NodeCut> cut, @Nullable CutGate hold) {
        CompletableFuture<Void> looked = new CompletableFuture<>();
        nodeLoop.context()
                .onLoop(
                        () -> {
                            try {
                                NodeCut taken = collect(hold);
                                if (!cut.complete(taken)) {
                                    taken.close();
                                }
                            } catch (Throwable failure) {
                                cut.completeExceptionally(failure);
                            } finally {
                                looked.complete(null);
                            }
                        },
                        () -> {
                            cut.completeExceptionally(closed());
                            looked.complete(null);
                        });
        return looked;
    }

    private IllegalStateException closed() {
        return new IllegalStateException(
                "node is closed: rank=" + nodeLoop.context().settings().rank());
    }

    /// On the loop, while the handlers' thread waits.
    private NodeCut collect(@Nullable CutGate hold) {
        if (nodeLoop.context().isClosed()) {
            throw closed();
        }
        if (hold != null) {
            hold.checkRuns();
        }
        nodeLoop.intake().take();
        if (!nodeLoop.broadcasts().isDrained()) {
            throw new IllegalStateException("broadcasts are on their way: rank="
                    + nodeLoop.context().settings().rank());
        }
        HandleSet shares = new HandleSet(nodeLoop.context()::close);
        boolean whole = false;
        try {
            NodeCut cut = new NodeCut(
                    nodeLoop.context().settings().rank(),
                    nodeLoop.context().settings().size(),
                    peers(shares),
                    arrived(shares),
                    hold == null ? List.of() : hold.kept(shares));
            if (hold != null) {
                hold.taken();
            }
            whole = true;
            return cut;
        } finally {
            if (!whole) {
                shares.close();
            }
        }
    }

    private List<NodeCut.OfPeer> peers(HandleSet shares) {
        List<NodeCut.OfPeer> peers = new ArrayList<>();
        for (Peer peer : nodeLoop.peers().all()) {
            if (peer.rank() != nodeLoop.context().settings().rank()) {
                peers.add(new NodeCut.OfPeer(peer.rank(), peer.session().lanes(send -> outgoing(send, shares))));
            }
        }
        peers.sort(Comparator.comparingInt(NodeCut.OfPeer::peer));
        return peers;
    }

    /// A number without bytes, which the peer is told to skip, is left of a broadcast, a confirmation, and what
    /// was cancelled.
    private static NodeCut.Outgoing outgoing(PendingSend send, HandleSet shares) {
        Optional<SealedBuffer> bytes = Optional.empty();
        if (send.kind == Frame.Kind.DIRECT && send.handle != null && !send.skipped) {
            bytes = Optional.of(shares.of(send.handle, null));
        }
        return new NodeCut.Outgoing(send.order, send.sequence, send.tag, send.options.format(), send.bytes, bytes);
    }

    /// What has no receiver yet is older than what waits for its handler, of each tag.
    private List<Message> arrived(HandleSet shares) {
        List<Incoming> waiting = nodeLoop.handlers().kept();
        for (HandlerExecutor.Item item : nodeLoop.handlerExecutor().waiting()) {
            if (item instanceof Incoming incoming) {
                waiting.add(incoming);
            }
        }
        List<Message> messages = new ArrayList<>();
        waiting.removeIf(Incoming::isRefused);
        for (Incoming incoming : waiting) {
            Message message = incoming.message;
            messages.add(Incoming.with(message, shares.of(message.buffer(), null)));
        }
        return messages;
    }
}
