// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.PeerStats;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/// The peers that a node has had to do with. Any thread may ask for one; what is in it says who may touch it.
public final class PeerTable {

    private final Map<Integer, Peer> peers = new ConcurrentHashMap<>();
    private final IntFunction<Peer> make;

    /// @param make a peer of a rank, on any thread
    public PeerTable(IntFunction<Peer> make) {
        this.make = make;
    }

    /// Any thread.
    public Peer peer(int rank) {
        Peer known = peers.get(rank);
        if (known != null) {
            return known;
        }
        // outside of the map: making one asks the user's memory for its listener, which may call back
        Peer made = make.apply(rank);
        Peer other = peers.putIfAbsent(rank, made);
        return other == null ? made : other;
    }

    /// Any thread.
    public Collection<Peer> all() {
        return peers.values();
    }

    /// By rank. On the loop.
    public List<PeerStats> stats() {
        return peers.values().stream()
                .map(Peer::stats)
                .sorted(Comparator.comparingInt(PeerStats::peer))
                .toList();
    }
}
