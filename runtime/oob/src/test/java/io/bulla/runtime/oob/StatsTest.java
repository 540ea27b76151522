// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What can be seen of a node's peers.
class StatsTest {

    private static final int OTHER = 6;

    private final Cluster cluster = new Cluster();
    private Proxy proxy;

    @TempDir
    private Path folder;

    @BeforeEach
    void standBetween() throws Exception {
        proxy = new Proxy(() -> cluster.address(1));
        cluster.directory = peer -> peer == 1 ? proxy.address() : null;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        proxy.close();
        cluster.close();
    }

    private PeerStats of(int rank, int peer) {
        return cluster.node(rank).stats().stream()
                .filter(stats -> stats.peer() == peer)
                .findAny()
                .orElseThrow();
    }

    @Test
    void messagesAndBytesAreCountedAtBothEnds() throws Exception {
        cluster.start(2);
        for (int i = 0; i < 5; i++) {
            Cluster.delivered(cluster.send(0, 1, i, 1000 + i));
        }
        PeerStats sender = of(0, 1);
        assertEquals(
                new PeerStats(1, PeerStats.State.CONNECTED, 5, 5010, 0, 0, 0, 0, 1, 0, 0, 0, Optional.empty(), 0, 0, 0),
                sender);
        PeerStats receiver = of(1, 0);
        assertEquals(5, receiver.receivedMessages());
        assertEquals(5010, receiver.receivedBytes());
        cluster.node(0).close();
        assertEquals(List.of(), cluster.node(0).stats());
    }

    @Test
    void queueAndItsOldestMessageAreSeenWhileThePeerIsSought() throws Exception {
        proxy.refuse(true);
        cluster.start(2);
        cluster.send(0, 1, 1, 1000);
        Thread.sleep(50);
        cluster.send(0, 1, 2, 500_000);
        Cluster.await("queued", () -> of(0, 1).queuedMessages() == 2);
        PeerStats stats = of(0, 1);
        assertEquals(PeerStats.State.SEEKING, stats.state());
        assertEquals(501_000, stats.queuedBytes());
        assertTrue(stats.oldest().orElseThrow().compareTo(Duration.ofMillis(50)) >= 0, stats::toString);
        Cluster.await("verdict", () -> of(0, 1).failures() == 1);
        assertEquals(PeerStats.State.IDLE, of(0, 1).state());
        assertEquals(0, of(0, 1).queuedMessages());
    }

    @Test
    void resendsAndConnectionsAreCounted() throws Exception {
        cluster.start(2);
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        proxy.cutAfter(100_000);
        assertEquals(2, Cluster.delivered(cluster.send(0, 1, 2, 1 << 20)).attempts());
        assertEquals(1, of(0, 1).resends());
        assertEquals(2, of(0, 1).connections());
    }

    @Test
    void peerThatIsNotReadIsSeenWithWhatWaits() throws Exception {
        cluster.start(2, setup -> setup.inboundHighWaterMark(1000));
        CountDownLatch hold = new CountDownLatch(1);
        cluster.node(1).receive(OTHER, message -> {
            try {
                hold.await(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        for (int i = 0; i < 10; i++) {
            cluster.send(0, 1, OTHER, i, 1000, SendOptions.DEFAULT);
        }
        Cluster.await(
                "pause",
                () -> cluster.node(1).stats().stream().anyMatch(stats -> stats.state() == PeerStats.State.PAUSED));
        assertTrue(of(1, 0).waitingBytes() > 1000);
        hold.countDown();
        Cluster.await("handled", () -> of(1, 0).waitingBytes() == 0);
        Cluster.await("read again", () -> of(1, 0).state() == PeerStats.State.CONNECTED);
    }

    /// Cancelled when some of it is on its way: the peer passes over it, and acknowledges what comes behind.
    @Test
    void messageThatIsTakenBackCountsAtNeitherEnd() throws Exception {
        cluster.start(2, setup -> setup.fragment(16 << 10));
        Cluster.delivered(cluster.send(0, 1, 1, 1000));
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("bulla.Send").withoutThreshold();
            recording.start();
            proxy.stall(true);
            Send taken = cluster.send(0, 1, 2, 48 << 20);
            Cluster.await("begun", () -> of(0, 1).queuedMessages() == 1);
            taken.cancel(false);
            proxy.stall(false);
            Cluster.delivered(cluster.send(0, 1, 3, 1000));
            Cluster.await("passed over", () -> of(0, 1).queuedMessages() == 0);
            recording.stop();
            recording.dump(file);
        }
        assertEquals(of(1, 0).receivedMessages(), of(0, 1).sentMessages());
        assertEquals(of(1, 0).receivedBytes(), of(0, 1).sentBytes());
        assertEquals(
                1,
                RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getEventType().getName().equals("bulla.Send")
                                && event.getLong("bytes") == 48 << 20)
                        .count());
    }

    @Test
    void recorderIsToldOfSendsReceivesAndFailures() throws Exception {
        cluster.start(2);
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("bulla.Send").withoutThreshold();
            recording.enable("bulla.Receive").withoutThreshold();
            recording.enable("bulla.PeerFailed").withoutThreshold();
            recording.start();
            Cluster.delivered(cluster.send(0, 1, 1, 1000));
            assertEquals("1 from 0: 1", cluster.next());
            cluster.node(1).close();
            Cluster.line(cluster.lost, "0: peer 1 failed");
            recording.stop();
            recording.dump(file);
        }
        TreeMap<String, RecordedEvent> events = new TreeMap<>();
        RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("bulla."))
                .forEach(event -> events.put(event.getEventType().getName(), event));
        RecordedEvent sent = events.get("bulla.Send");
        assertEquals(1000, sent.getLong("bytes"));
        assertEquals("acknowledged", sent.getString("outcome"));
        assertEquals(1, sent.getInt("attempts"));
        assertEquals(0, events.get("bulla.Receive").getInt("peer"));
        assertEquals(
                "peer 1 failed: it has closed", events.get("bulla.PeerFailed").getString("why"));
    }
}
