// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.peer.Peer;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A member that repeats a frame, and acknowledges or reads nothing, makes a node keep no more than the first of
/// them.
@Timeout(60)
class MemberFloodTest {

    private static final int NODES = 3;
    private static final int FLOOD = 20_000;
    private static final int MOST = 300;

    private final Cluster cluster = new Cluster();
    private final MemoryBulk.Net net = new MemoryBulk.Net();
    private final Semaphore noticed = new Semaphore(0);
    private OobNode node;
    private Member member;

    private void start(UnaryOperator<OobNodeBuilder> setup) throws IOException {
        start(setup, null);
    }

    /// Node 1, and a member of rank 0 that is none.
    private void start(UnaryOperator<OobNodeBuilder> setup, byte[] offer) throws IOException {
        start(setup, offer, 1L << 30);
    }

    private void start(UnaryOperator<OobNodeBuilder> setup, byte[] offer, long limit) throws IOException {
        cluster.directory = peer -> null;
        node = cluster.add(
                1,
                NODES,
                builder -> setup.apply(builder.peerTimeout(Duration.ofMinutes(10))
                        .heartbeat(Duration.ofMinutes(1))
                        .queuePerPeer(MOST, 64 << 20)));
        node.receiveNotices(Runnable::run, (peer, topic, text) -> noticed.release());
        member = new Member(0, NODES, node.address(), offer, limit);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        member.close();
        cluster.close();
    }

    /// Until all that was said before is worked through.
    private void settle() throws Exception {
        member.notice(0).say();
        assertTrue(noticed.tryAcquire(60, TimeUnit.SECONDS));
    }

    private <T> T onLoop(Supplier<T> what) throws Exception {
        return CompletableFuture.supplyAsync(what, node.loop().eventLoop()).get(60, TimeUnit.SECONDS);
    }

    private Peer peer() {
        return node.loop().peers().peer(0);
    }

    private long queued() throws Exception {
        return onLoop(() -> (long) peer().session().queued());
    }

    /// Of the connection, still to be written.
    private long unwritten() throws Exception {
        return onLoop(() -> peer().carrier()
                .connection()
                .channel()
                .unsafe()
                .outboundBuffer()
                .totalPendingWriteBytes());
    }

    @Test
    void broadcastIsHandedAgainOnlyWhenItWasAcknowledged() throws Exception {
        start(builder -> builder);
        try (SealedBuffer message = cluster.numbered(1, 100)) {
            node.broadcast(Cluster.TAG, message);
        }
        ByteBuffer sent = member.read(Frame.Kind.BROADCAST);
        long session = sent.getLong(40);
        long number = sent.getLong(48);
        for (int i = 0; i < FLOOD; i++) {
            member.confirm(1, session, number, -1);
        }
        settle();
        assertEquals(1, queued());
        // once it has come it is sent again, once for all that was asked
        member.acknowledge(1, 0, 0);
        settle();
        assertEquals(number, member.read(Frame.Kind.BROADCAST).getLong(48));
        assertEquals(1, queued());
        assertTrue(cluster.handles.open() < 20, "handles=" + cluster.handles.open());
    }

    @Test
    void broadcastThatComesAgainIsOwedOneAnswerMore() throws Exception {
        start(builder -> builder);
        for (int i = 0; i < FLOOD; i++) {
            member.broadcast(0, 7, 1, 4, 4, Lane.SMALL);
        }
        settle();
        assertTrue(queued() <= 2, "queued=" + queued());
        // what has come meanwhile is answered when the first answer was acknowledged
        member.acknowledge(0, 0, 1);
        settle();
        assertEquals(1, queued());
    }

    @Test
    void broadcastsWhoseAnswersAreNotAcknowledgedStop() throws Exception {
        start(builder -> builder);
        for (int i = 0; i < FLOOD; i++) {
            member.broadcast(0, 7, 1 + i, 4, 4, Lane.SMALL);
        }
        settle();
        assertTrue(queued() <= 2 * MOST, "queued=" + queued());
        member.read(Frame.Kind.RETRY);
        // and go on when they are
        long answered = queued();
        member.acknowledge(0, 0, answered).control(Frame.Kind.RESUME).say();
        settle();
        assertEquals(0, queued());
    }

    @Test
    void broadcastsBesideTheConnectionStopAsTheOthersDo() throws Exception {
        MemoryBulk device = new MemoryBulk(net, cluster.source);
        start(builder -> builder.bulk(device, 100 << 10), new byte[] {'m', 'e', 'm'});
        for (int i = 0; i < FLOOD; i++) {
            member.request(4).finished(0, 7 + i, 4);
        }
        settle();
        assertTrue(queued() <= 2 * MOST, "queued=" + queued());
        member.read(Frame.Kind.RETRY);
    }

    /// What a hello says of messages is no reason to keep what is owed for broadcasts.
    @Test
    void confirmationsReachAMemberThatTakesNoMessageOfTheirLength() throws Exception {
        start(builder -> builder.routing(new Radix(1)), null, 3);
        node.lost(2, "as told");
        for (int i = 0; i < FLOOD; i++) {
            // confirmed with the rank below, which has failed
            member.broadcast(0, 7, 1 + i, 4, 4, Lane.SMALL).say();
            assertEquals(Integer.BYTES, member.read(Frame.Kind.CONFIRM).getInt(56));
            member.acknowledge(0, 0, 1 + i);
        }
        settle();
        assertEquals(0, queued());
        assertEquals(0, onLoop(() -> node.loop().broadcasts().owed()));
    }

    @Test
    void retryWhileThereIsOneIsIgnored() throws Exception {
        start(builder -> builder);
        for (int i = 0; i < FLOOD; i++) {
            member.control(Frame.Kind.RETRY);
        }
        settle();
        // behind all that is due before
        node.loop().eventLoop().schedule(() -> node.notice(0, 1, new byte[0]), 1, TimeUnit.SECONDS);
        int resumed = 0;
        for (int kind = 0;
                kind != Frame.Kind.NOTICE.ordinal();
                kind = member.read().get(5)) {
            resumed += kind == Frame.Kind.RESUME.ordinal() ? 1 : 0;
        }
        assertTrue(resumed >= 1 && resumed < 1000, "resumed=" + resumed);
    }

    /// To look for a message takes as long as there are some that wait.
    @Test
    void rejectionsAreHeardOnceUntilAllBeginsAgain() throws Exception {
        start(builder -> builder);
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try (SealedBuffer message = cluster.numbered(i, 100)) {
                sends.add(node.send(0, Cluster.TAG, message));
            }
        }
        settle();
        for (int i = 0; i < 3; i++) {
            member.reject(Lane.SMALL, i);
        }
        settle();
        assertEquals(
                List.of(true, false, false), sends.stream().map(Send::isDone).toList());
        member.control(Frame.Kind.RETRY).say();
        member.read(Frame.Kind.RESUME);
        member.reject(Lane.SMALL, 2);
        settle();
        assertEquals(
                List.of(true, false, true), sends.stream().map(Send::isDone).toList());
    }

    @Test
    void requestsAreAnsweredAsFarAsTheAnswersAreRead() throws Exception {
        MemoryBulk device = new MemoryBulk(net, cluster.source);
        start(builder -> builder.bulk(device, 100 << 10), new byte[] {'m', 'e', 'm'});
        for (int i = 0; i < 20 * FLOOD; i++) {
            member.request(200 << 10);
            if (i % 1000 == 0) {
                member.say();
            }
        }
        settle();
        assertTrue(unwritten() < 1 << 20, "unwritten=" + unwritten());
        assertEquals(1, device.landed.get());
    }

    @Test
    void memoryIsAskedForAgainAfterARetry() throws Exception {
        MemoryBulk device = new MemoryBulk(net, cluster.source);
        start(builder -> builder.fragment(16 << 10).bulk(device, 100 << 10), new byte[] {'m', 'e', 'm'});
        try (SealedBuffer message = cluster.numbered(1, 200 << 10)) {
            node.send(0, Cluster.TAG, message);
        }
        long asked = member.read(Frame.Kind.REQUEST).getLong(16);
        member.control(Frame.Kind.RETRY).say();
        member.read(Frame.Kind.RESUME);
        assertEquals(asked, member.read(Frame.Kind.REQUEST).getLong(16));
    }
}
