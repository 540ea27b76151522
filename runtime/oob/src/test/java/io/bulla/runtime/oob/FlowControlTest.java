// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTrace;
import io.bulla.runtime.oob.internal.machine.Environment;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.topology.Radix;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a receiver holds has a bound, what waits for it goes on in the end, and nothing that waits holds up
/// acknowledgements, control, or another message.
class FlowControlTest {

    private static final int OTHER = 6;
    private static final int MIB = 1 << 20;

    private final Cluster cluster = new Cluster();
    private final CountDownLatch hold = new CountDownLatch(1);

    @AfterEach
    void nothingIsLeft() {
        hold.countDown();
        cluster.close();
    }

    /// Refuses regions of a size and more.
    private static final class Short implements MemorySource {

        private final MemorySource source;
        private final AtomicLong refused = new AtomicLong();
        private volatile long most = Long.MAX_VALUE;

        Short(MemorySource source) {
            this.source = source;
        }

        @Override
        public Region allocate(long byteSize) {
            if (byteSize >= most) {
                refused.incrementAndGet();
                throw new MemoryLimitException("none on purpose");
            }
            return source.allocate(byteSize);
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            return source.seal(region, used);
        }

        @Override
        public LeaseTrace trace() {
            return source.trace();
        }
    }

    private void block(OobNode node, int tag) {
        node.receive(tag, message -> {
            try {
                hold.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @Test
    void messageOverTheReceiversLimitFailsByNameAndWhatIsBehindGoesOn() throws Exception {
        cluster.add(0, 2, node -> node);
        cluster.add(1, 2, node -> node.limit(MIB));
        for (int round = 0; round < 2; round++) {
            Send tooLong = cluster.send(0, 1, 1, 2 * MIB);
            Send behind = cluster.send(0, 1, 2, 500_000);
            Throwable failure = Cluster.failure(tooLong);
            assertInstanceOf(MessageRefusedException.class, failure);
            assertEquals(
                    "peer 1 refuses a message: message over the receiver's limit: length=2097152 limit=1048576"
                            + " tag=5 bytes=2097152",
                    failure.getMessage());
            Cluster.delivered(behind);
            assertEquals("1 from 0: 2", cluster.next());
        }
        assertEquals(1, cluster.node(0).stats().getFirst().connections());
    }

    @Test
    void broadcastThatAChildDoesNotTakeReachesTheOthers() throws Exception {
        cluster.add(0, 3, node -> node.routing(new Radix(1)));
        cluster.add(1, 3, node -> node.routing(new Radix(1)).limit(MIB));
        cluster.add(2, 3, node -> node.routing(new Radix(1)));
        try (SealedBuffer message = cluster.numbered(7, 2 * MIB)) {
            BroadcastResult result = cluster.node(0)
                    .broadcast(Cluster.TAG, message)
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            assertEquals(List.of(1), result.failed());
        }
        assertEquals("2 from 0: 7", cluster.next());
    }

    @Test
    void receiverWithoutMemoryIsWaitedForAndTheConnectionStays() throws Exception {
        Short memory = new Short(cluster.source);
        cluster.add(0, 2, node -> node);
        cluster.add(1, 2, node -> node.memory(memory).peerTimeout(Duration.ofSeconds(60)));
        Cluster.delivered(cluster.send(0, 1, 0, 100));
        memory.most = 1;
        List<Send> sends = new ArrayList<>();
        for (int i = 1; i < 20; i++) {
            sends.add(cluster.send(0, 1, i, i % 2 == 0 ? 100 : 600_000));
        }
        // what does not need memory flows the other way meanwhile
        Cluster.delivered(cluster.send(1, 0, 50, 100));
        Cluster.await("no retry", () -> memory.refused.get() > 3);
        memory.most = Long.MAX_VALUE;
        for (Send send : sends) {
            Cluster.delivered(send);
        }
        assertEquals(1, cluster.node(0).stats().getFirst().connections());
    }

    @Test
    void messageForWhichThereIsNeverMemoryFailsByNameAndWhatIsBehindGoesOn() throws Exception {
        Short memory = new Short(cluster.source);
        memory.most = 400_000;
        cluster.add(0, 2, node -> node);
        cluster.add(1, 2, node -> node.memory(memory).peerTimeout(Duration.ofMillis(500)));
        Send never = cluster.send(0, 1, 1, MIB);
        Send behind = cluster.send(0, 1, 2, 300_000);
        assertEquals(
                "peer 1 refuses a message: no memory for it: none on purpose tag=5 bytes=1048576",
                Cluster.failure(never).getMessage());
        Cluster.delivered(behind);
        assertEquals("1 from 0: 2", cluster.next());
    }

    @Test
    void handlerThatWaitsForItsOwnSendWakes() throws Exception {
        cluster.start(2, node -> node.inboundHighWaterMark(64 << 10).heartbeat(Duration.ofSeconds(60)));
        cluster.node(1).receive(OTHER, message -> {
            cluster.node(1)
                    .send(0, Cluster.TAG, message.buffer())
                    .toCompletableFuture()
                    .join();
        });
        List<Send> sends = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            sends.add(cluster.send(0, 1, OTHER, i, 10_000, SendOptions.DEFAULT));
        }
        for (int i = 0; i < 400; i++) {
            assertEquals("0 from 1: " + i, cluster.next());
            Cluster.delivered(sends.get(i));
        }
    }

    @Test
    void relayWhoseLeafIsBlockedHoldsNoMoreThanItsWindowAndTheOriginIsTold() throws Exception {
        long window = 4 * MIB;
        List<MeteredSource> memory = new ArrayList<>();
        cluster.start(3, node -> {
            MeteredSource metered = new MeteredSource(cluster.source);
            memory.add(metered);
            return node.memory(metered)
                    .routing(new Radix(1))
                    .inboundHighWaterMark(window)
                    .queuePerPeer(1000, 16 * MIB);
        });
        block(cluster.node(2), OTHER);
        cluster.node(1).receive(OTHER, message -> {});
        List<CompletableFuture<BroadcastResult>> all = new ArrayList<>();
        CompletableFuture<BroadcastResult> last;
        do {
            try (SealedBuffer message = cluster.numbered(1, 700_000)) {
                last = cluster.node(0).broadcast(OTHER, message).toCompletableFuture();
            }
            all.add(last);
        } while (!last.isCompletedExceptionally());
        assertInstanceOf(QueueFullException.class, last.exceptionNow());
        // those on their way, and those that the leaf has confirmed and holds
        assertTrue(all.size() <= (16 * MIB + window) / 700_000 + 2, () -> "taken=" + all.size());
        Send direct = cluster.send(1, 2, 5, 100);
        Cluster.await("relay is not reached", () -> memory.get(1).used() > window / 4);
        Cluster.delivered(direct);
        assertTrue(
                memory.get(1).peak() <= window + MIB,
                () -> "relay=" + memory.get(1).peak());
        assertTrue(
                memory.get(2).peak() <= window + MIB,
                () -> "leaf=" + memory.get(2).peak());
        hold.countDown();
        for (CompletableFuture<BroadcastResult> one : all.subList(0, all.size() - 1)) {
            assertEquals(2, one.get(10, TimeUnit.SECONDS).reached());
        }
        Cluster.await(
                "given back", () -> memory.get(1).used() == 0 && memory.get(2).used() == 0);
    }

    @Test
    void broadcastsOfAllOriginsThroughSmallWindowsDoNotWaitForEachOther() throws Exception {
        int size = 5;
        cluster.start(
                size,
                node -> node.routing(new Radix(1))
                        .fragment(8 << 10)
                        .inboundHighWaterMark(100_000)
                        // no heartbeat may be needed to go on
                        .heartbeat(Duration.ofSeconds(60)));
        List<CompletableFuture<BroadcastResult>> all = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            for (int origin = 0; origin < size; origin++) {
                try (SealedBuffer message = cluster.numbered(i, i % 2 == 0 ? 30_000 : 5_000)) {
                    all.add(cluster.node(origin).broadcast(Cluster.TAG, message).toCompletableFuture());
                }
            }
        }
        for (CompletableFuture<BroadcastResult> one : all) {
            assertEquals(size - 1, one.get(30, TimeUnit.SECONDS).reached());
        }
    }

    @Test
    void announcedBroadcastThatNeverLandsHoldsUpNothing() throws Exception {
        cluster.start(3, node -> node.routing(new Radix(1)));
        cluster.node(0).close();
        Cluster.delivered(cluster.send(1, 2, 1, 100));
        assertEquals("2 from 1: 1", cluster.next());
        try (SocketChannel member = member(1, 0, 3, 77)) {
            say(member, broadcast(0, 0, 9, 64 * MIB, 1024, 1), ByteBuffer.allocate(1024));
            Cluster.await("not handed on", () -> cluster.node(1).broadcastSends() > 0);
            Send small = cluster.send(1, 2, 2, 100);
            Send large = cluster.send(1, 2, 3, MIB);
            Cluster.delivered(small);
            Cluster.delivered(large);
        }
        assertEquals("2 from 1: 2", cluster.next());
        assertEquals("2 from 1: 3", cluster.next());
    }

    @Test
    void memberThatBeginsAndSkipsIsHeldToItsWindow() throws Exception {
        MeteredSource memory = new MeteredSource(cluster.source);
        cluster.add(0, 2, node -> node);
        cluster.add(1, 2, node -> node.memory(memory).inboundHighWaterMark(MIB));
        cluster.node(0).close();
        try (SocketChannel member = member(1, 0, 2, 77)) {
            for (int i = 0; i < 200; i++) {
                say(member, broadcast(0, i, i, MIB, 128 << 10, 1), ByteBuffer.allocate(128 << 10));
                say(member, Wire.frame(Frame.Kind.SKIP, 0, i, MIB, MIB, 0, 1));
            }
        } catch (IOException disconnected) {
            // as it should be
        }
        Cluster.line(cluster.log, "message without credit: lane=1 length=1048576");
        assertTrue(memory.peak() <= 2 * MIB, () -> "peak=" + memory.peak());
        Cluster.await("given up", () -> memory.used() == 0);
    }

    /// Refuses one header.
    private static final class OneRefusal extends AbstractByteBufAllocator {

        private final AtomicBoolean refuses = new AtomicBoolean();

        @Override
        public ByteBuf directBuffer(int initial, int most) {
            if (initial == Frame.BYTES && most == Frame.BYTES && refuses.getAndSet(false)) {
                throw new OutOfMemoryError("none, for a test");
            }
            return super.directBuffer(initial, most);
        }

        @Override
        protected ByteBuf newHeapBuffer(int initial, int most) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initial, most);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initial, int most) {
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(initial, most);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    @Test
    void messageWhoseHeaderFindsNoMemoryGoesAgainAndKeepsNoHandle() throws Exception {
        OneRefusal channels = new OneRefusal();
        cluster.add(0, 2, node -> node.allocator(channels));
        cluster.add(1, 2, node -> node);
        Cluster.delivered(cluster.send(0, 1, 1, 100));
        channels.refuses.set(true);
        Cluster.delivered(cluster.send(0, 1, 2, 100_000));
        assertFalse(channels.refuses.get());
        assertEquals("1 from 0: 1", cluster.next());
        assertEquals("1 from 0: 2", cluster.next());
        Cluster.await("no handle is left", () -> cluster.handles.open() == 0);
    }

    @Test
    void broadcastsThatAMemberLeavesBehindAreNotHeldBesideEachOther() throws Exception {
        MeteredSource memory = new MeteredSource(cluster.source);
        cluster.add(0, 2, node -> node);
        cluster.add(1, 2, node -> node.memory(memory).inboundHighWaterMark(MIB));
        cluster.node(0).close();
        for (int i = 0; i < 50; i++) {
            try (SocketChannel member = member(1, 0, 2, 77 + i)) {
                say(member, broadcast(0, 0, i, MIB - 64, 128 << 10, 1), ByteBuffer.allocate(128 << 10));
                long sent = (i + 1) * (128L << 10);
                Cluster.await("landed", () -> memory.total() >= sent);
            }
        }
        assertTrue(memory.peak() <= 2 * MIB, () -> "peak=" + memory.peak());
    }

    @Test
    void memberThatBeginsAnewHasNotAWindowForEachTime() throws Exception {
        MeteredSource memory = new MeteredSource(cluster.source);
        cluster.add(0, 2, node -> node);
        OobNode held = cluster.add(1, 2, node -> node.memory(memory).inboundHighWaterMark(MIB));
        cluster.node(0).close();
        block(held, Cluster.TAG);
        int length = MIB - 1024;
        String refused = "messages of former sessions are held: sessions=4";
        for (int i = 0; i < 20 && cluster.log.stream().noneMatch(line -> line.contains(refused)); i++) {
            long sent = (i + 1L) * length;
            try (SocketChannel member = member(1, 0, 2, 77 + i)) {
                say(member, Wire.frame(Frame.Kind.DIRECT, 0, 0, 0, length, length, 1), ByteBuffer.allocate(length));
                Cluster.await(
                        "landed or refused",
                        () -> memory.total() >= sent || cluster.log.stream().anyMatch(line -> line.contains(refused)));
            } catch (IOException disconnected) {
                // as it should be
            }
        }
        Cluster.line(cluster.log, refused);
        assertTrue(memory.peak() <= 6 * MIB, () -> "peak=" + memory.peak());
    }

    @Test
    void broadcastThatDoesNotComeFromAboveIsRefused() throws Exception {
        cluster.start(3, node -> node.routing(new Radix(2)));
        cluster.node(2).close();
        try (SocketChannel member = member(1, 2, 3, 77)) {
            say(member, broadcast(0, 0, 9, 4, 4, 0), ByteBuffer.allocate(4));
            Cluster.line(cluster.log, "broadcast from a node that is not above: peer=2 origin=0 rank=1");
        }
    }

    @Test
    void rankThatTwoProcessesClaimIsSaidWithBothAddresses() throws Exception {
        cluster.start(2);
        Cluster.delivered(cluster.send(1, 0, 1, 100));
        OobNode second = cluster.add(1, 2, node -> node);
        try (SealedBuffer message = cluster.numbered(2, 100)) {
            second.send(0, Cluster.TAG, message).toCompletableFuture().get(10, TimeUnit.SECONDS);
        }
        String line = Cluster.line(cluster.log, "is claimed by two processes");
        assertTrue(
                line.matches(".*rank 1 is claimed by two processes: 127\\.0\\.0\\.1:\\d+ and 127\\.0\\.0\\.1:\\d+.*"),
                line);
        // the first one hears why it is not heard
        Throwable failure = Cluster.failure(cluster.send(1, 0, 3, 100));
        assertTrue(failure.getMessage().contains("is claimed by two processes"), failure::getMessage);
    }

    @Test
    void timeInWhichTheNodeStoodStillIsNoReasonForAVerdict() throws Exception {
        AtomicLong ahead = new AtomicLong();
        Environment jumping = new Environment(
                () -> System.nanoTime() + ahead.get(), Environment.MACHINE.random(), Environment.MACHINE.threads());
        try (Proxy proxy = new Proxy(() -> cluster.address(1))) {
            cluster.directory = peer -> peer == 1 ? proxy.address() : null;
            cluster.start(2, node -> node.environment(jumping).peerTimeout(Duration.ofSeconds(8)));
            proxy.refuse(true);
            Send send = cluster.send(0, 1, 1, 100);
            long failed = proxy.accepted() + 2;
            Cluster.await("no attempt", () -> proxy.accepted() >= failed);
            ahead.addAndGet(TimeUnit.SECONDS.toNanos(100));
            long after = proxy.accepted() + 2;
            Cluster.await("no attempt", () -> proxy.accepted() >= after);
            proxy.refuse(false);
            Cluster.delivered(send);
        }
    }

    /// A member that speaks by itself, known to a node.
    private SocketChannel member(int to, int rank, int size, long session) throws IOException {
        SocketChannel channel = SocketChannel.open(cluster.address(to));
        say(channel, Wire.hello(4, 4, rank, size, 1, session, 0));
        Wire.read(channel, Frame.BYTES + Hello.BYTES);
        return channel;
    }

    private static ByteBuffer broadcast(int origin, long sequence, long number, long total, int length, int lane) {
        ByteBuf out = Unpooled.buffer(Frame.BYTES);
        Frame.write(out, Frame.Kind.BROADCAST, 0, Cluster.TAG, origin, sequence, 0, total, 99, number, length, lane);
        return out.nioBuffer();
    }

    private static void say(SocketChannel to, ByteBuffer... words) throws IOException {
        for (ByteBuffer word : words) {
            word.rewind();
            while (word.hasRemaining()) {
                to.write(word);
            }
        }
    }
}
