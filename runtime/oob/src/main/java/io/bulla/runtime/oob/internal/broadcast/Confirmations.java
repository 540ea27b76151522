// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.peer.PeerTable;
import io.bulla.runtime.oob.internal.session.PendingSend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What is said up the trees: that all below this node have a broadcast, or who has not. A parent has one
/// confirmation of a broadcast on its way, and the newest waits for that one. One event loop's.
final class Confirmations implements Confirmation.Events {

    /// `reached` of a confirmation that says: not taken, send it from byte 0.
    static final int AGAIN = -1;

    private static final ValueLayout.OfInt BIG_INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final Broadcast.Outcome SEND_AGAIN = new Broadcast.Outcome(AGAIN, List.of());

    private final PeerTable peers;
    private final int rank;
    private final SeenBroadcasts seen;
    private final Outcomes outcomes = new Outcomes();
    // by parent: what stands in its lane, begun or not
    private final Map<Integer, Map<BroadcastKey, Confirmation>> underway = new HashMap<>();

    Confirmations(PeerTable peers, int rank, SeenBroadcasts seen) {
        this.peers = peers;
        this.rank = rank;
        this.seen = seen;
    }

    /// How many are on their way.
    int owed() {
        return underway.values().stream().mapToInt(Map::size).sum();
    }

    /// All below this node have a broadcast, or have failed.
    void confirm(Broadcast broadcast) {
        Broadcast.Outcome outcome = broadcast.outcome();
        if (!broadcast.refused) {
            outcomes.put(broadcast.key, outcome.reached(), outcome.failed());
        }
        for (int parent : broadcast.parents) {
            confirm(broadcast.key, outcome, parent);
        }
        for (int parent : broadcast.differing.keySet()) {
            // of one that was not its origin's, another may be
            confirm(broadcast.key, broadcast.refused ? SEND_AGAIN : notTaken(), parent);
        }
    }

    /// What was done long ago, or given up, has arrived to its end.
    void confirmAgain(BroadcastKey key, int to) {
        Outcomes.Kept kept = outcomes.get(key);
        Broadcast.Outcome known;
        if (kept != null) {
            known = new Broadcast.Outcome(kept.reached(), kept.failed());
        } else if (seen.isForgotten(key)) {
            known = notTaken();
        } else {
            known = seen.contains(key) ? new Broadcast.Outcome(1, List.of()) : SEND_AGAIN;
        }
        confirm(key, known, to);
    }

    /// This node has a copy of another length, whole: the parent's is not taken.
    void refuse(BroadcastKey key, int to) {
        confirm(key, notTaken(), to);
    }

    /// This node has nothing of it any more: the parent sends it from byte 0.
    void askAgain(BroadcastKey key, int to) {
        confirm(key, SEND_AGAIN, to);
    }

    /// This node has not taken it, or does not know: those below it are the parent's.
    private Broadcast.Outcome notTaken() {
        return new Broadcast.Outcome(0, List.of(rank));
    }

    private void confirm(BroadcastKey key, Broadcast.Outcome outcome, int to) {
        Map<BroadcastKey, Confirmation> ofParent = underway.computeIfAbsent(to, parent -> new HashMap<>());
        Confirmation before = ofParent.get(key);
        if (before != null) {
            before.following = outcome;
            return;
        }
        Peer parent = peers.peer(to);
        Confirmation confirmation = new Confirmation(this, key, outcome.reached(), bytesOf(outcome.failed()), parent);
        ofParent.put(key, confirmation);
        if (parent.enqueue(confirmation)) {
            parent.pump();
        }
    }

    @Override
    public void onAcknowledged(Confirmation confirmation) {
        int parent = confirmation.peer.rank();
        Map<BroadcastKey, Confirmation> ofParent = underway.get(parent);
        if (ofParent != null && ofParent.remove(confirmation.key, confirmation) && ofParent.isEmpty()) {
            underway.remove(parent);
        }
        Broadcast.@Nullable Outcome following = confirmation.following;
        if (following != null) {
            confirm(confirmation.key, following, parent);
        }
    }

    /// The session with a parent is over, and what was begun is out of the lane. The others go in the next one: what
    /// is to be said of their broadcasts waits for them, as before.
    void forget(int parent) {
        Map<BroadcastKey, Confirmation> ofParent = underway.get(parent);
        if (ofParent != null) {
            ofParent.values().removeIf(confirmation -> confirmation.lane == PendingSend.NO_LANE);
            if (ofParent.isEmpty()) {
                underway.remove(parent);
            }
        }
    }

    /// Beside the memory source: a confirmation gives memory back, so it must not wait for some.
    private static SealedBuffer bytesOf(List<Integer> ranks) {
        if (ranks.isEmpty()) {
            return SealedBuffer.concat();
        }
        MemorySegment memory = Arena.ofAuto().allocate((long) Integer.BYTES * ranks.size());
        for (int i = 0; i < ranks.size(); i++) {
            memory.setAtIndex(BIG_INT, i, ranks.get(i));
        }
        return SealedBuffer.adopt(memory, () -> {});
    }
}
