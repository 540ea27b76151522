// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.PeerStats;
import io.micrometer.core.instrument.Clock;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/// A snapshot of a node's peers, which the meters of one scrape share.
final class PeerLook {

    /// Nanoseconds for which a look is good.
    private static final long FRESH = 100_000_000;

    private final WeakReference<OobNode> node;
    private final Optional<Integer> peer;
    private final Clock clock;
    // volatile: threads that scrape at once see a whole record, one of the last ones; a look too many does no harm
    private volatile Seen seen;

    /// @param at the clock's time in nanoseconds
    /// @param now the peers, none after the node's end
    /// @param ever the peers, as they were seen last
    private record Seen(long at, List<PeerStats> now, List<PeerStats> ever) {}

    PeerLook(OobNode node, Optional<Integer> peer, Clock clock) {
        this.node = new WeakReference<>(node);
        this.peer = peer;
        this.clock = clock;
        this.seen = new Seen(clock.monotonicTime() - FRESH, List.of(), List.of());
    }

    long count(PeerStats.State state) {
        return look().now().stream().filter(stats -> stats.state() == state).count();
    }

    long now(ToLongFunction<PeerStats> value) {
        return look().now().stream().mapToLong(value).sum();
    }

    long ever(ToLongFunction<PeerStats> value) {
        return look().ever().stream().mapToLong(value).sum();
    }

    Optional<Duration> oldest() {
        return look().now().stream().flatMap(stats -> stats.oldest().stream()).max(Comparator.naturalOrder());
    }

    // no lock: a meter that is read on the node's own loop would wait for one that waits for the loop
    private Seen look() {
        Seen last = seen;
        long at = clock.monotonicTime();
        if (at - last.at() < FRESH) {
            return last;
        }
        List<PeerStats> now = stats();
        Seen fresh = new Seen(at, now, now.isEmpty() ? last.ever() : now);
        seen = fresh;
        return fresh;
    }

    private List<PeerStats> stats() {
        OobNode of = node.get();
        List<PeerStats> all = of == null ? List.of() : of.stats();
        return peer.isEmpty()
                ? all
                : all.stream().filter(stats -> stats.peer() == peer.get()).toList();
    }
}
