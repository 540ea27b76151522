// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.internal.broadcast.BroadcastKey;
import io.bulla.runtime.oob.internal.broadcast.Confirmation;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.SendList;
import io.bulla.runtime.oob.internal.session.Session;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
    /// @param doubled how many of those, that have a number, are of a broadcast of which another is one
    public record Held(int sends, int confirmations, int doubled) {}

    /// On the loop.
    public static Held held(OobNode node, int peer) {
        Session session = node.loop().peers().peer(peer).session();
        int confirmations = session.control.size();
        Set<BroadcastKey> keys = new HashSet<>();
        int doubled = 0;
        for (SendList list : List.of(session.control.unacked, session.control.begun)) {
            for (PendingSend send = list.first(); send != null; send = send.next) {
                // notices are there, too
                doubled += send instanceof Confirmation of && !keys.add(of.key) ? 1 : 0;
            }
        }
        return new Held(session.queued() - confirmations, confirmations, doubled);
    }

    /// Runs a task behind all that the node's loop has to run.
    public static void onLoop(OobNode node, Runnable task) {
        node.loop().context().onLoop(task);
    }

    /// Number of a node's session with a peer.
    public static long session(OobNode node, int peer) {
        return node.loop().peers().peer(peer).session().mine();
    }

    /// Number of the peer's session that a node knows, or 0.
    public static long known(OobNode node, int peer) {
        return node.loop().peers().peer(peer).session().theirs();
    }

    /// Starts a node that takes time, randomness and threads from the simulator.
    public static CompletableFuture<OobNode> start(
            OobNodeBuilder builder, LongSupplier clock, LongSupplier random, ThreadFactory threads) throws IOException {
        return builder.environment(new Environment(clock, random, threads)).starting();
    }

    /// Binds for a node whose rank is not known yet.
    public static CompletableFuture<BoundNode> bind(
            OobNodeBuilder builder, LongSupplier clock, LongSupplier random, ThreadFactory threads) throws IOException {
        return builder.environment(new Environment(clock, random, threads)).binding();
    }
}
