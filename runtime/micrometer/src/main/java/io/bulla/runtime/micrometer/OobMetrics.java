// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.PeerStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/// The peers of an [OobNode], summed up, or one of them. Each meter has the node's `rank` as a tag.
///
/// | meter | kind | what |
/// |---|---|---|
/// | `bulla.oob.peers`, by `state` | gauge | peers in each [PeerStats.State] |
/// | `bulla.oob.sent.messages`, `.bytes` | counter | messages that were acknowledged |
/// | `bulla.oob.received.messages`, `.bytes` | counter | messages that arrived, without duplicates |
/// | `bulla.oob.resends`, `bulla.oob.duplicates` | counter | messages written again; messages that arrived again |
/// | `bulla.oob.connections`, `bulla.oob.failures` | counter | connections; verdicts that a peer failed |
/// | `bulla.oob.queued.messages`, `.bytes` | gauge | on their way, from the send to the acknowledgement |
/// | `bulla.oob.waiting` | gauge, bytes | arrived, and waiting for the handlers |
/// | `bulla.oob.oldest` | gauge, time | how long the oldest queued message has been on its way |
/// | `bulla.oob.unclaimed` | gauge, bytes | messages without a receiver; of all peers only |
/// | `bulla.oob.refused.connections` | counter | closed as soon as accepted; of all peers only |
/// | `bulla.oob.refused.broadcasts` | counter | not their origin's; of all peers only |
/// | `bulla.oob.broadcast.sends` | counter | sends of broadcasts, to one child each; of all peers only |
///
/// Meters of one scrape share a look at the node, because a look waits for the node's event loop: one at most a tenth
/// of a second old, by the registry's clock. After the node's end the counters stay at what was seen last, and the
/// gauges of the peers are 0.
public final class OobMetrics implements MeterBinder {

    private final OobNode node;
    private final Optional<Integer> peer;
    private final List<Tag> tags;

    private OobMetrics(OobNode node, Optional<Integer> peer, Tag... tags) {
        this.node = Objects.requireNonNull(node, "node");
        this.peer = peer;
        List<Tag> own = new ArrayList<>(List.of(tags));
        own.add(Tag.of("rank", Integer.toString(node.rank())));
        peer.ifPresent(rank -> own.add(Tag.of("peer", Integer.toString(rank))));
        this.tags = List.copyOf(own);
    }

    /// All peers of a node, summed up.
    ///
    /// @param node closed or not
    /// @param tags of each meter, besides `rank`
    /// @return what binds the meters
    public static OobMetrics of(OobNode node, Tag... tags) {
        return new OobMetrics(node, Optional.empty(), tags);
    }

    /// One peer of a node. A thousand peers are fifteen thousand meters: for those that are looked into.
    ///
    /// @param node closed or not
    /// @param peer its rank; its meters are 0 until the node has to do with it
    /// @param tags of each meter, besides `rank` and `peer`
    /// @return what binds the meters
    public static OobMetrics ofPeer(OobNode node, int peer, Tag... tags) {
        return new OobMetrics(node, Optional.of(peer), tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        // each meter's function holds it, for others may be denied by a filter; it does not keep the node
        PeerLook look = new PeerLook(node, peer, registry.config().clock());
        for (PeerStats.State state : PeerStats.State.values()) {
            Gauge.builder("bulla.oob.peers", look, ignored -> look.count(state))
                    .description("peers in this state")
                    .tags(tags)
                    .tag("state", state.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
        counters(look, registry);
        gauges(look, registry);
        if (peer.isEmpty()) {
            ofNode(registry);
        }
    }

    private void counters(PeerLook look, MeterRegistry registry) {
        counter("sent.messages", BaseUnits.MESSAGES, PeerStats::sentMessages, look, registry);
        counter("sent.bytes", BaseUnits.BYTES, PeerStats::sentBytes, look, registry);
        counter("received.messages", BaseUnits.MESSAGES, PeerStats::receivedMessages, look, registry);
        counter("received.bytes", BaseUnits.BYTES, PeerStats::receivedBytes, look, registry);
        counter("resends", BaseUnits.MESSAGES, PeerStats::resends, look, registry);
        counter("duplicates", BaseUnits.MESSAGES, PeerStats::duplicates, look, registry);
        counter("connections", BaseUnits.CONNECTIONS, PeerStats::connections, look, registry);
        counter("failures", "failures", PeerStats::failures, look, registry);
    }

    private void gauges(PeerLook look, MeterRegistry registry) {
        gauge("queued.messages", BaseUnits.MESSAGES, look, ignored -> look.now(PeerStats::queuedMessages), registry);
        gauge("queued.bytes", BaseUnits.BYTES, look, ignored -> look.now(PeerStats::queuedBytes), registry);
        gauge("waiting", BaseUnits.BYTES, look, ignored -> look.now(PeerStats::waitingBytes), registry);
        TimeGauge.builder("bulla.oob.oldest", look, TimeUnit.NANOSECONDS, ignored -> oldest(look))
                .tags(tags)
                .register(registry);
    }

    private void ofNode(MeterRegistry registry) {
        gauge("unclaimed", BaseUnits.BYTES, node, OobNode::unclaimedBytes, registry);
        FunctionCounter.builder("bulla.oob.refused.connections", node, OobNode::refusedConnections)
                .baseUnit(BaseUnits.CONNECTIONS)
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.oob.refused.broadcasts", node, OobNode::refusedBroadcasts)
                .baseUnit(BaseUnits.MESSAGES)
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.oob.broadcast.sends", node, OobNode::broadcastSends)
                .baseUnit(BaseUnits.MESSAGES)
                .tags(tags)
                .register(registry);
    }

    private void counter(
            String name, String unit, ToLongFunction<PeerStats> of, PeerLook look, MeterRegistry registry) {
        FunctionCounter.builder("bulla.oob." + name, look, ignored -> look.ever(of))
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    private <T> void gauge(String name, String unit, T of, ToDoubleFunction<T> value, MeterRegistry registry) {
        Gauge.builder("bulla.oob." + name, of, value).baseUnit(unit).tags(tags).register(registry);
    }

    private static double oldest(PeerLook look) {
        return look.oldest().map(Duration::toNanos).orElse(0L);
    }
}
