// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.Security;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OobMetersTest {

    private static final int TAG = 5;
    private static final int LENGTH = 1000;

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    private final ArenaSource memory = ArenaSource.create();
    private final LinkedBlockingQueue<Integer> got = new LinkedBlockingQueue<>();
    private final List<OobNode> nodes = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        for (int rank = 0; rank < 3; rank++) {
            nodes.add(OobNode.builder(rank, 3)
                    .memory(memory)
                    .security(Security.plaintext())
                    .directory(peer -> nodes.get(peer).address())
                    .receive(TAG, message -> got.add(message.origin()))
                    .start());
        }
    }

    @AfterEach
    void close() {
        nodes.forEach(OobNode::close);
        memory.close();
        registry.close();
    }

    private void send(int from, int to) throws Exception {
        nodes.get(from)
                .send(
                        to,
                        TAG,
                        BufferBuilder.create(memory).put(new byte[LENGTH]).seal())
                .get(30, TimeUnit.SECONDS);
        assertNotNull(got.poll(30, TimeUnit.SECONDS));
    }

    private double counter(String name, String... tags) {
        return registry.get("bulla.oob." + name).tags(tags).functionCounter().count();
    }

    private double gauge(String name, String... tags) {
        return registry.get("bulla.oob." + name).tags(tags).gauge().value();
    }

    private void later() {
        clock.add(Duration.ofSeconds(1));
    }

    @Test
    void allPeersAreSummedUp() throws Exception {
        OobMetrics.of(nodes.get(0)).bindTo(registry);
        OobMetrics.of(nodes.get(1)).bindTo(registry);
        assertEquals(0, gauge("peers", "rank", "0", "state", "connected"));
        send(0, 1);
        send(0, 2);
        later();
        assertEquals(2, gauge("peers", "rank", "0", "state", "connected"));
        assertEquals(1, gauge("peers", "rank", "1", "state", "connected"));
        assertEquals(0, gauge("peers", "rank", "0", "state", "seeking"));
        assertEquals(2, counter("sent.messages", "rank", "0"));
        assertEquals(2 * LENGTH, counter("sent.bytes", "rank", "0"));
        assertEquals(1, counter("received.messages", "rank", "1"));
        assertEquals(LENGTH, counter("received.bytes", "rank", "1"));
        assertEquals(2, counter("connections", "rank", "0"));
        for (String none : new String[] {
            "resends", "duplicates", "failures", "refused.connections", "refused.broadcasts", "broadcast.sends"
        }) {
            assertEquals(0, counter(none, "rank", "0"), none);
        }
        for (String none : new String[] {"queued.messages", "queued.bytes", "waiting", "unclaimed", "oldest"}) {
            assertEquals(0, gauge(none, "rank", "0"), none);
        }
    }

    @Test
    void oneRanksMetersAreThoseOfThatPeer() throws Exception {
        OobMetrics.ofPeer(nodes.get(0), 2).bindTo(registry);
        send(0, 1);
        send(0, 2);
        send(0, 2);
        assertEquals(2, counter("sent.messages", "rank", "0", "peer", "2"));
        assertNull(registry.find("bulla.oob.unclaimed").gauge());
    }

    @Test
    void oneLookServesAScrape() throws Exception {
        OobMetrics.of(nodes.get(0)).bindTo(registry);
        assertEquals(0, counter("sent.messages"));
        send(0, 1);
        assertEquals(0, counter("sent.messages"), "the look of a moment ago");
        later();
        assertEquals(1, counter("sent.messages"));
    }

    @Test
    void metersDoNotNeedTheirBinder() throws Exception {
        OobMetrics.of(nodes.get(0)).bindTo(registry);
        System.gc();
        send(0, 1);
        later();
        assertEquals(1, counter("sent.messages"));
    }

    /// No meter is held by another one, which a filter may deny.
    @Test
    void metersDoNotNeedEachOther() throws Exception {
        registry.config().meterFilter(MeterFilter.denyNameStartsWith("bulla.oob.peers"));
        OobMetrics.of(nodes.get(0)).bindTo(registry);
        System.gc();
        send(0, 1);
        later();
        assertEquals(1, counter("sent.messages"));
        assertEquals(0, gauge("queued.messages"));
        assertEquals(0, gauge("oldest"));
    }

    @Test
    void countersStayWhenTheNodeEnds() throws Exception {
        OobMetrics.of(nodes.get(0)).bindTo(registry);
        send(0, 1);
        assertEquals(1, counter("sent.messages"));
        nodes.get(0).close();
        later();
        assertEquals(1, counter("sent.messages"));
        assertEquals(0, gauge("peers", "state", "connected"));
    }

    @Test
    void queueIsSeenWhileThePeerIsSought() throws Exception {
        OobNode lonely = OobNode.builder(0, 2)
                .memory(memory)
                .security(Security.plaintext())
                .directory(peer -> null)
                .start();
        try {
            OobMetrics.of(lonely).bindTo(registry);
            lonely.send(
                    1, TAG, BufferBuilder.create(memory).put(new byte[LENGTH]).seal());
            assertEquals(1, gauge("peers", "state", "seeking"));
            assertEquals(1, gauge("queued.messages"));
            assertEquals(LENGTH, gauge("queued.bytes"));
        } finally {
            lonely.close(Duration.ZERO);
        }
    }
}
