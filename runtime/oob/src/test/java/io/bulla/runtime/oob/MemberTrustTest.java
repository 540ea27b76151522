// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.session.Lane;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a member of a job is trusted with: `docs/security.md` says so, and these show that it is all too true. What
/// a member is not trusted with is tested where it is refused.
class MemberTrustTest {

    private final Cluster cluster = new Cluster();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
    }

    /// A chain 0 - 1 - 2, of which one rank is a member that speaks by itself.
    private SocketChannel member(int rank, int to) throws IOException {
        cluster.start(3, node -> node.routing(new Radix(1)).peerTimeout(Duration.ofMinutes(10)));
        cluster.node(rank).close();
        SocketChannel channel = SocketChannel.open(cluster.address(to));
        channel.write(Wire.hello(4, 4, rank, 3, 1, 77, 0));
        Wire.read(channel, Frame.BYTES + Hello.BYTES);
        return channel;
    }

    private static ByteBuffer frame(
            Frame.Kind kind, int tag, int origin, long session, long number, int bytes, int lane) {
        ByteBuf out = Unpooled.buffer(Frame.BYTES);
        Frame.write(out, kind, 0, tag, origin, 0, 0, bytes, session, number, bytes, lane);
        return out.nioBuffer();
    }

    @Test
    void relayIsTrustedWithTheBytesThatItHandsOn() throws Exception {
        try (SocketChannel relay = member(1, 2)) {
            relay.write(frame(Frame.Kind.BROADCAST, Cluster.TAG, 0, 99, 7, 4, Lane.SMALL));
            relay.write(ByteBuffer.allocate(4).putInt(0, 666));
            // rank 0 never sent it
            assertEquals("2 from 0: 666", cluster.next());
        }
    }

    @Test
    void childIsBelievedWhatIsBelowItAndHoldsABroadcastUntilItIsLost() throws Exception {
        try (SocketChannel child = member(1, 0)) {
            CompletableFuture<BroadcastResult> first = broadcast(1);
            ByteBuffer heard = heardBroadcast(child);
            // it says that two nodes have it, and has told none
            child.write(frame(Frame.Kind.CONFIRM, 2, 0, heard.getLong(40), heard.getLong(48), 0, Lane.CONTROL));
            assertEquals(2, first.get(10, TimeUnit.SECONDS).reached());
            CompletableFuture<BroadcastResult> second = broadcast(2);
            heardBroadcast(child);
            // a member that is heard is not given up, whatever it does not say
            child.write(Wire.header(
                    Frame.acknowledgement(1, new long[] {2, 0, 0}, new long[] {Wire.WINDOW, Wire.WINDOW}, 0)));
            Cluster.await(
                    "acknowledged",
                    () -> cluster.node(0).stats().stream()
                            .anyMatch(peer -> peer.peer() == 1 && peer.sentMessages() == 2));
            assertFalse(second.isDone());
            cluster.node(0).lost(1, "said so");
            assertEquals(List.of(1), second.get(10, TimeUnit.SECONDS).failed());
        }
    }

    @Test
    void childThatSpeaksForItselfAloneIsCountedAndThoseBelowItAreAsked() throws Exception {
        try (SocketChannel child = member(1, 0)) {
            CompletableFuture<BroadcastResult> result = broadcast(1);
            ByteBuffer heard = heardBroadcast(child);
            // as a node that has it, and does not know any more what came of it below
            child.write(frame(Frame.Kind.CONFIRM, 1, 0, heard.getLong(40), heard.getLong(48), 0, Lane.CONTROL));
            assertEquals("2 from 0: 1", cluster.next());
            BroadcastResult counted = result.get(10, TimeUnit.SECONDS);
            assertEquals(2, counted.reached());
            assertEquals(List.of(), counted.failed());
        }
    }

    @Test
    void frameThatIsAnnouncedTakesItsMemoryOnceWithinTheLimitUntilItsConnectionEnds() throws Exception {
        int limit = 1 << 20;
        MeteredSource metered = new MeteredSource(cluster.source);
        cluster.start(2, node -> node.memory(metered).limit(limit).peerTimeout(Duration.ofMinutes(10)));
        cluster.node(1).close();
        long before = metered.used();
        try (SocketChannel member = SocketChannel.open(cluster.address(0))) {
            member.write(Wire.hello(4, 4, 1, 2, 1, 77, 0));
            Wire.read(member, Frame.BYTES + Hello.BYTES);
            member.write(frame(Frame.Kind.DIRECT, Cluster.TAG, 1, 0, 0, limit, Lane.BULK));
            // no byte of it has come, nor can another frame before those bytes
            Cluster.await("memory is taken", () -> metered.used() - before >= limit);
            assertTrue(metered.used() - before <= limit + (limit >> 3), "used=" + (metered.used() - before));
        }
        Cluster.await("and given back", () -> metered.used() == before);
        try (SocketChannel member = SocketChannel.open(cluster.address(0))) {
            member.write(Wire.hello(4, 4, 1, 2, 2, 77, 0));
            Wire.read(member, Frame.BYTES + Hello.BYTES);
            metered.forgetPeak();
            member.write(frame(Frame.Kind.DIRECT, Cluster.TAG, 1, 0, 0, limit + 1, Lane.BULK));
            while (member.read(ByteBuffer.allocate(100)) >= 0) {
                // until the node ends the connection
            }
            assertTrue(metered.peak() - before < limit, "peak=" + (metered.peak() - before));
        }
    }

    private CompletableFuture<BroadcastResult> broadcast(int number) {
        try (SealedBuffer message = cluster.numbered(number, 4)) {
            return cluster.node(0).broadcast(Cluster.TAG, message).toCompletableFuture();
        }
    }

    /// The header of a broadcast's only fragment.
    private static ByteBuffer heardBroadcast(SocketChannel from) throws IOException {
        ByteBuffer heard = Wire.read(from, Frame.BYTES);
        while (heard.get(5) != Frame.Kind.BROADCAST.ordinal()) {
            heard = Wire.read(from, Frame.BYTES);
        }
        Wire.read(from, 4);
        return heard;
    }
}
