// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;

/// The package's own calls that the simulator needs.
public final class SimulatedNode {

    private SimulatedNode() {}

    /// What a node keeps for a peer.
    ///
    /// @param sends messages and broadcasts on their way
    /// @param confirmations that were not acknowledged
    public record Held(int sends, int confirmations) {}

    /// On the loop.
    public static Held held(OobNode node, int peer) {
        Session session = node.loop().peer(peer).session();
        int confirmations = session.control.size();
        return new Held(session.queued() - confirmations, confirmations);
    }

    /// Number of a node's session with a peer.
    public static long session(OobNode node, int peer) {
        return node.loop().peer(peer).session().mine();
    }

    /// Number of the peer's session that a node knows, or 0.
    public static long known(OobNode node, int peer) {
        return node.loop().peer(peer).session().theirs();
    }

    /// Starts a node that takes time, randomness and threads from the simulator.
    public static CompletableFuture<OobNode> start(
            OobNodeBuilder builder, LongSupplier clock, LongSupplier random, ThreadFactory threads) throws IOException {
        return builder.surroundings(new Surroundings(clock, random, threads)).starting();
    }

    /// Binds for a node whose rank is not known yet.
    public static CompletableFuture<BoundNode> bind(
            OobNodeBuilder builder, LongSupplier clock, LongSupplier random, ThreadFactory threads) throws IOException {
        return builder.surroundings(new Surroundings(clock, random, threads)).binding();
    }
}
