// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.broadcast.Broadcast;
import io.bulla.runtime.oob.internal.broadcast.BroadcastKey;
import io.bulla.runtime.oob.internal.broadcast.SeenBroadcasts;
import io.bulla.runtime.oob.internal.broadcast.SeenNumbers;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.topology.Binomial;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import io.bulla.runtime.oob.topology.Star;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A broadcast reaches all living nodes once, whichever node dies on the way.
class BroadcastTest {

    private static final int TAG = Cluster.TAG;
    private static final int LARGE = 4 << 20;

    private final Cluster cluster = new Cluster();
    private final List<Proxy> proxies = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (Proxy proxy : proxies) {
            proxy.close();
        }
        cluster.close();
    }

    /// A proxy before each node.
    private void start(int size, Routing routing, UnaryOperator<OobNodeBuilder> setup) throws Exception {
        for (int rank = 0; rank < size; rank++) {
            int target = rank;
            proxies.add(new Proxy(() -> cluster.address(target)));
        }
        cluster.directory = peer -> proxies.get(peer).address();
        cluster.start(
                size,
                builder -> setup.apply(builder.routing(routing)
                        .fragment(64 << 10)
                        .heartbeat(Duration.ofMillis(500))
                        .peerTimeout(Duration.ofSeconds(30))));
    }

    private CompletableFuture<BroadcastResult> xcast(int from, int number, int bytes) {
        try (SealedBuffer message = cluster.numbered(number, bytes)) {
            return cluster.node(from).broadcast(TAG, message).toCompletableFuture();
        }
    }

    private static BroadcastResult result(CompletableFuture<BroadcastResult> stage) throws Exception {
        return stage.get(20, TimeUnit.SECONDS);
    }

    /// A process ends, and a launcher says so.
    private void die(int rank) {
        cluster.node(rank).abort();
        for (OobNode node : cluster.nodes) {
            node.lost(rank, "killed");
        }
    }

    /// Who has heard `number` from `origin`, each once.
    private TreeSet<Integer> heard(int count, int origin, int number) throws InterruptedException {
        TreeSet<Integer> ranks = new TreeSet<>();
        for (int i = 0; i < count; i++) {
            String[] words = cluster.next().split(" from ");
            assertEquals(origin + ": " + number, words[1]);
            assertTrue(ranks.add(Integer.valueOf(words[0])), "twice at " + words[0]);
        }
        return ranks;
    }

    @Test
    void completesWhenEverybodyHasIt() throws Exception {
        for (Routing routing : List.of(new Radix(2), new Binomial(), new Star(), new Radix(1))) {
            cluster.nodes.forEach(OobNode::close);
            cluster.nodes.clear();
            proxies.clear();
            start(9, routing, setup -> setup);
            for (int bytes : new int[] {4, 100_000, 1 << 20}) {
                BroadcastResult result = result(xcast(3, bytes, bytes));
                assertEquals(new BroadcastResult(8, List.of(), result.nanos()), result, () -> routing + " " + bytes);
                assertEquals(8, heard(8, 3, bytes).size());
            }
        }
    }

    @Test
    void childrenOfADeadRelayAreAdopted() throws Exception {
        start(13, new Radix(3), setup -> setup);
        result(xcast(0, 1, 100));
        heard(12, 0, 1);
        // 1 and its child 4 are relays in the tree of 0
        die(1);
        BroadcastResult small = result(xcast(0, 2, 100));
        assertEquals(List.of(1), small.failed());
        assertEquals(11, small.reached());
        assertFalse(heard(11, 0, 2).contains(1));
        BroadcastResult large = result(xcast(0, 3, LARGE));
        assertEquals(List.of(1), large.failed());
        assertFalse(heard(11, 0, 3).contains(1));
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void childThatFailedOnceCostsNoLaterBroadcastATimeout() throws Exception {
        start(4, new Radix(1), setup -> setup.peerTimeout(Duration.ofSeconds(300)));
        die(1);
        for (int number = 1; number <= 3; number++) {
            BroadcastResult result = result(xcast(0, number, 100));
            assertEquals(List.of(1), result.failed());
            heard(2, 0, number);
        }
        // it is looked for meanwhile, and has the next one when it is back
        cluster.replace(1, 4, setup -> setup.routing(new Radix(1)).heartbeat(Duration.ofMillis(500)));
        for (int number = 4; !result(xcast(0, number, 100)).failed().isEmpty(); number++) {
            heard(2, 0, number);
        }
    }

    @Test
    void deadRelayBelowADeadRelayIsPassedOver() throws Exception {
        start(6, new Radix(1), setup -> setup);
        die(2);
        die(3);
        BroadcastResult result = result(xcast(1, 7, LARGE));
        assertEquals(List.of(2, 3), result.failed());
        assertEquals(3, result.reached());
        assertEquals(new TreeSet<>(List.of(0, 4, 5)), heard(3, 1, 7));
    }

    @Test
    void relayThatDiesInTheMiddleOfAMessageCutsNoNodeOff() throws Exception {
        start(5, new Radix(1), setup -> setup);
        result(xcast(0, 1, 100));
        heard(4, 0, 1);
        // node 2 has half of it, and so has node 3
        proxies.get(2).cutAfter(LARGE / 2);
        CompletableFuture<BroadcastResult> stage = xcast(0, 2, LARGE);
        Cluster.await("not cut", () -> proxies.get(2).isCut());
        die(2);
        BroadcastResult result = result(stage);
        assertEquals(List.of(2), result.failed());
        assertEquals(new TreeSet<>(List.of(1, 3, 4)), heard(3, 0, 2));
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void connectionThatBreaksInTheMiddleCostsAResendAndNothingElse() throws Exception {
        start(4, new Radix(1), setup -> setup);
        for (int link = 1; link < 4; link++) {
            proxies.get(link).cutAfter(LARGE / 2);
            BroadcastResult result = result(xcast(0, link, LARGE));
            assertEquals(new BroadcastResult(3, List.of(), result.nanos()), result);
            assertTrue(proxies.get(link).isCut());
            assertEquals(3, heard(3, 0, link).size());
        }
        assertNull(cluster.got.poll(50, TimeUnit.MILLISECONDS));
    }

    @Test
    void relayForwardsTheFirstFragmentWhileTheLastIsStillArriving() throws Exception {
        start(3, new Radix(1), setup -> setup.heartbeat(Duration.ofSeconds(60)));
        result(xcast(0, 1, 100));
        heard(2, 0, 1);
        long before = proxies.get(2).forwarded();
        proxies.get(1).stallAfter(1 << 20);
        CompletableFuture<BroadcastResult> stage = xcast(0, 2, LARGE);
        Cluster.await("nothing is handed on", () -> proxies.get(2).forwarded() - before > 1 << 19);
        assertFalse(stage.isDone());
        proxies.get(1).stall(false);
        assertEquals(2, result(stage).reached());
        heard(2, 0, 2);
    }

    @Test
    void bytesAreKeptUntilTheWholeTreeHasConfirmed() throws Exception {
        start(3, new Radix(1), setup -> setup.heartbeat(Duration.ofSeconds(60)));
        result(xcast(0, 1, 100));
        heard(2, 0, 1);
        Cluster.await("handles", () -> cluster.handles.open() == 0);
        proxies.get(2).stall(true);
        CompletableFuture<BroadcastResult> stage = xcast(0, 2, 100);
        heard(1, 0, 2);
        Thread.sleep(100);
        // at the origin, and at the relay: its own and the one of the send
        assertFalse(stage.isDone());
        assertEquals(3, cluster.handles.open());
        proxies.get(2).stall(false);
        assertEquals(2, result(stage).reached());
        heard(1, 0, 2);
    }

    @Test
    void relayThatIsLeftWithHalfAMessageGivesItUp() throws Exception {
        start(4, new Radix(1), setup -> setup.peerTimeout(Duration.ofSeconds(2)));
        result(xcast(0, 1, 100));
        heard(3, 0, 1);
        proxies.get(1).stallAfter(1 << 20);
        CompletableFuture<BroadcastResult> stage = xcast(0, 2, LARGE);
        Cluster.await("nothing landed", () -> proxies.get(2).forwarded() > 1 << 19);
        cluster.node(0).abort();
        assertInstanceOf(
                PeerFailedException.class,
                assertThrows(ExecutionException.class, () -> result(stage)).getCause());
        // what lay behind it in the lane goes on
        Send behind = cluster.send(1, 2, 3, LARGE);
        Cluster.delivered(behind);
        assertEquals("2 from 1: 3", cluster.next());
        Cluster.await("handles", () -> cluster.handles.open() == 0);
    }

    @Test
    void closingWaitsForTheConfirmation() throws Exception {
        start(6, new Radix(2), setup -> setup);
        CompletableFuture<BroadcastResult> stage = xcast(0, 1, LARGE);
        cluster.node(0).close(Duration.ofSeconds(10));
        assertEquals(5, stage.getNow(null).reached());
        heard(5, 0, 1);
        CompletableFuture<BroadcastResult> late = xcast(0, 2, 100);
        assertTrue(late.isCompletedExceptionally());
    }

    @Test
    void copyPerChildIsAskedOfThePolicyOncePerChild() throws Exception {
        List<Long> asked = new CopyOnWriteArrayList<>();
        start(
                7,
                new Radix(2),
                setup -> setup.sends(message -> {
                    asked.add(message.byteSize());
                    return message.copy(cluster.source);
                }));
        BroadcastResult result = result(xcast(0, 1, LARGE));
        assertEquals(new BroadcastResult(6, List.of(), result.nanos()), result);
        heard(6, 0, 1);
        assertEquals(Collections.nCopies(6, (long) LARGE), asked);
    }

    @Test
    void fragmentsOfTwoSendersMayOverlap() {
        Broadcast broadcast = new Broadcast(new BroadcastKey(0, 1, 2), TAG, SendOptions.DEFAULT, false, 5000, null, 0);
        try (SealedBuffer message = cluster.numbered(3, 5000)) {
            assertTrue(broadcast.land(0, message.slice(0, 2048)));
            assertFalse(broadcast.land(0, message.slice(0, 1024)));
            assertFalse(broadcast.has(1500, 4096));
            assertTrue(broadcast.land(1024, message.slice(1024, 1124)));
            assertTrue(broadcast.has(1024, 4096));
            try (SealedBuffer piece = broadcast.piece(1024, 4096)) {
                assertEquals(1024, piece.byteSize());
            }
            try (SealedBuffer piece = broadcast.piece(1100, 4096)) {
                assertEquals(message.iovec().slice(1100, piece.byteSize()), piece.iovec());
                assertTrue(piece.byteSize() >= Frame.MIN_FRAGMENT);
            }
            assertTrue(broadcast.land(2000, message.slice(2000, 3000)));
            assertTrue(broadcast.isWhole());
            try (SealedBuffer whole = broadcast.whole()) {
                assertEquals(3, Cluster.number(whole));
            }
        }
        broadcast.letGo(SealedBuffer::close);
    }

    @Test
    void numbersThatWereSeenAreKeptAsRanges() {
        SeenNumbers seen = new SeenNumbers();
        for (long number : new long[] {5, 1, 2, 9, 3, 4, 7, 9, 8}) {
            seen.add(number);
        }
        assertEquals(2, seen.ranges());
        for (long number = 0; number < 12; number++) {
            assertEquals(number >= 1 && number <= 5 || number >= 7 && number <= 9, seen.contains(number));
        }
    }

    @Test
    void numbersWithManyHolesAreForgottenFromTheLowestOn() {
        SeenNumbers seen = new SeenNumbers();
        for (long number = 1; number < 200_000; number += 2) {
            seen.add(number);
            assertTrue(seen.contains(number));
        }
        assertTrue(seen.ranges() <= SeenNumbers.MOST, "ranges=" + seen.ranges());
        // of what is forgotten it is not known whether it was here
        assertTrue(seen.isForgotten(1) && seen.isForgotten(2) && seen.contains(2));
        assertTrue(seen.contains(199_999) && !seen.isForgotten(199_999));
        assertFalse(seen.contains(199_998) || seen.isForgotten(199_998));
        seen.add(5);
        assertTrue(seen.ranges() <= SeenNumbers.MOST, "ranges=" + seen.ranges());
    }

    @Test
    void sessionsOfAnOriginThatAreUsedAreNotPushedOutByOthers() {
        SeenBroadcasts seen = new SeenBroadcasts();
        BroadcastKey real = new BroadcastKey(0, 99, 1);
        seen.add(real);
        for (long other = 1; other <= 50; other++) {
            seen.add(new BroadcastKey(0, other, 1));
            seen.add(new BroadcastKey(1, other, 1));
            assertTrue(seen.contains(real), "session=" + other);
        }
        assertFalse(seen.contains(new BroadcastKey(0, 1, 1)), "sixteen are remembered");
    }

    /// The ranks that failed are 4 bytes each.
    @Test
    void confirmationReachesANodeThatTakesNoMessageOfItsLength() throws Exception {
        cluster.directory = peer -> peer == 2 ? null : cluster.address(peer);
        for (int rank = 0; rank < 2; rank++) {
            cluster.add(rank, 3, builder -> builder.routing(new Radix(1)).limit(0));
        }
        try (SealedBuffer nothing = SealedBuffer.concat()) {
            BroadcastResult result =
                    result(cluster.node(0).broadcast(TAG + 1, nothing).toCompletableFuture());
            assertEquals(1, result.reached());
            assertEquals(List.of(2), result.failed());
        }
    }
}
