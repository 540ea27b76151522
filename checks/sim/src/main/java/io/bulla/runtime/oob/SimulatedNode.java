// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.broadcast.BroadcastKey;
import io.bulla.runtime.oob.internal.broadcast.Confirmation;
import io.bulla.runtime.oob.internal.broadcast.SignedBytes;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.node.CutGate;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.internal.session.SendList;
import io.bulla.runtime.oob.internal.session.Session;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
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

    /// Numbers of a session with a peer.
    ///
    /// @param session this side's number of it
    /// @param expected next in each lane
    /// @param next that is given in each lane
    public record Numbers(long session, List<Long> expected, List<Long> next) {

        /// Of a session of which nothing was in the cut.
        public static final Numbers NONE = new Numbers(0, List.of(0L, 0L, 0L), List.of(0L, 0L, 0L));

        /// Whether what is said is not beyond these.
        ///
        /// @param acknowledges whether it is what is expected
        public boolean covers(boolean acknowledges, long small, long bulk, long control) {
            List<Long> most = acknowledges ? expected : next;
            return small <= most.get(0) && bulk <= most.get(1) && control <= most.get(2);
        }
    }

    /// Numbers of all sessions, by peer. On the loop.
    public static Map<Integer, Numbers> numbers(OobNode node) {
        Map<Integer, Numbers> all = new HashMap<>();
        for (Peer peer : node.loop().peers().all()) {
            Session session = peer.session();
            List<Long> expected = new ArrayList<>();
            List<Long> next = new ArrayList<>();
            for (int lane = 0; lane < Lane.COUNT; lane++) {
                expected.add(session.reassembler(lane).expected());
                next.add(session.lane(lane).next());
            }
            all.put(peer.rank(), new Numbers(session.mine(), expected, next));
        }
        return all;
    }

    /// Whether a cut of a node that goes on is taken, and not over. On the loop.
    public static boolean isHeld(OobNode node) {
        CutGate hold = node.loop().hold();
        return hold != null && hold.isTaken();
    }

    /// Messages without a receiver; the handles stay the node's.
    public static List<SealedBuffer> unclaimed(OobNode node) {
        return node.loop().handlers().kept().stream()
                .map(kept -> kept.message.buffer())
                .toList();
    }

    /// What an origin signs.
    public static byte[] statement(int origin, long session, long number, int tag, byte[] bytes) {
        MemorySegment memory = Arena.ofAuto().allocate(bytes.length + 1L).asSlice(0, bytes.length);
        memory.copyFrom(MemorySegment.ofArray(bytes));
        try (SealedBuffer sealed = SealedBuffer.adopt(memory, () -> {})) {
            return SignedBytes.statement(new BroadcastKey(origin, session, number), tag, 0, sealed);
        }
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
        return start(builder, clock, random, threads, look -> {});
    }

    /// The same, with looks from outside at what runs on its loop.
    ///
    /// @param looks gets what looks, to be called at any time
    public static CompletableFuture<OobNode> start(
            OobNodeBuilder builder,
            LongSupplier clock,
            LongSupplier random,
            ThreadFactory threads,
            Consumer<Runnable> looks)
            throws IOException {
        return builder.environment(environment(clock, random, threads, looks)).starting();
    }

    private static Environment environment(
            LongSupplier clock, LongSupplier random, ThreadFactory threads, Consumer<Runnable> looks) {
        return new Environment(clock, random, threads, (nanos, look) -> {
            looks.accept(look);
            return () -> {};
        });
    }

    /// Binds for a node whose rank is not known yet.
    public static CompletableFuture<BoundNode> bind(
            OobNodeBuilder builder,
            LongSupplier clock,
            LongSupplier random,
            ThreadFactory threads,
            Consumer<Runnable> looks)
            throws IOException {
        return builder.environment(environment(clock, random, threads, looks)).binding();
    }
}
