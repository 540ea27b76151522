// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import io.bulla.refcount.internal.Live;
import io.bulla.runtime.oob.PeerStats;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/// Runs on the loop what the program says to peers, or says and asks of them. Any thread.
public final class PeerCalls {

    private final NodeLoop node;
    private final IntFunction<Peer> peers;
    private final int rank;

    /// @param peers a peer by its rank, if there is one
    public PeerCalls(NodeLoop node, IntFunction<Peer> peers) {
        this.node = node;
        this.peers = peers;
        this.rank = node.context().rank();
        Live.put("node", PeerCalls.class, this, PeerCalls::lines);
    }

    /// The verdict on a peer.
    public void lost(int peer, String reason) {
        Objects.requireNonNull(reason, "reason");
        onLoop(peer, gone -> gone.giveUp(reason));
    }

    /// A hint that a peer may be gone.
    public void suspect(int peer, String reason) {
        Objects.requireNonNull(reason, "reason");
        onLoop(peer, doubted -> doubted.suspect(reason));
    }

    /// A word to a peer, beside the messages.
    public void notice(int peer, int topic, byte[] text) {
        Objects.checkIndex(topic, Frame.TOPICS);
        Peer to = peers.apply(peer);
        if (peer == rank || text.length > Frame.MAX_NOTICE) {
            throw new IllegalArgumentException("not a notice: peer=" + peer + " rank=" + rank + " length=" + text.length
                    + " limit=" + Frame.MAX_NOTICE);
        }
        byte[] copy = text.clone();
        onLoop(to, there -> there.notice(topic, copy));
    }

    private void onLoop(int peer, Consumer<Peer> call) {
        Peer to = peers.apply(peer);
        onLoop(to, there -> {
            if (peer != rank) {
                call.accept(there);
            }
        });
    }

    private void onLoop(Peer peer, Consumer<Peer> call) {
        node.context().onLoop(() -> {
            if (!node.context().isClosed()) {
                call.accept(peer);
            }
        });
    }

    private List<String> lines() {
        return stats().stream()
                .filter(peer -> peer.peer() != rank)
                .map(this::line)
                .toList();
    }

    private String line(PeerStats peer) {
        return "rank=" + rank + " peer=" + peer.peer() + " state=" + peer.state() + " queued=" + peer.queuedMessages()
                + " queuedBytes=" + peer.queuedBytes() + " oldest="
                + peer.oldest().map(Duration::toMillis).orElse(0L) + "ms waitingBytes=" + peer.waitingBytes()
                + " leasedBytes=" + peer.leasedBytes() + " failures=" + peer.failures();
    }

    /// The figures of all peers, of one moment on the loop, which is waited for.
    public List<PeerStats> stats() {
        if (node.eventLoop().inEventLoop()) {
            return node.peers().stats();
        }
        CompletableFuture<List<PeerStats>> stats = new CompletableFuture<>();
        node.context()
                .onLoop(
                        () -> {
                            try {
                                stats.complete(
                                        node.context().isClosed()
                                                ? List.of()
                                                : node.peers().stats());
                            } catch (Throwable failure) {
                                stats.completeExceptionally(failure);
                            }
                        },
                        () -> stats.complete(List.of()));
        return stats.join();
    }
}
