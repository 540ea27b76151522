// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.MeteredAllocator;
import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.Star;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The scene that the sealed buffer was made for: one of them goes to a thousand children and to the node itself,
/// as sends and as a broadcast at once, while the node unpacks it. A third of the children reads nothing before the
/// quick ones have it, and slowly then; a tenth is not there yet.
class ThousandChildrenTest {

    private static final int CHILDREN = 1000;
    private static final int SLOW_EACH = 3;
    private static final int LATE_EACH = 10;
    private static final int NAP_MILLIS = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(300);
    private static final int BYTES = 128 << 10;
    private static final int CAPACITY = BYTES + 64;
    private static final int SENT = 7;
    private static final int XCAST = 8;
    private static final WireFormat FORMAT = WireFormat.PMIX_4_DESCRIBED;
    private static final byte[] CONTENT = new byte[BYTES];

    static {
        new Random(5).nextBytes(CONTENT);
    }

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    private final MeteredSource own = new MeteredSource(source);
    private final MeteredSource landing = new MeteredSource(source);
    private final MeteredAllocator channels = new MeteredAllocator(ByteBufAllocator.DEFAULT);
    private final EventLoopGroup quick = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final EventLoopGroup slow = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final AtomicReferenceArray<OobNode> nodes = new AtomicReferenceArray<>(CHILDREN + 1);
    private final AtomicIntegerArray sent = new AtomicIntegerArray(CHILDREN + 1);
    private final AtomicIntegerArray broadcast = new AtomicIntegerArray(CHILDREN + 1);
    private final AtomicIntegerArray completed = new AtomicIntegerArray(CHILDREN + 1);
    private final AtomicLong quickest = new AtomicLong();
    private final AtomicLong slowest = new AtomicLong();
    private final AtomicInteger reached = new AtomicInteger();
    private final AtomicInteger unpacked = new AtomicInteger();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final CountDownLatch quickOnes = new CountDownLatch(quickChildren());
    private volatile boolean over;

    @AfterEach
    void nothingIsLeft() {
        for (int rank = 0; rank <= CHILDREN; rank++) {
            if (nodes.get(rank) != null) {
                nodes.get(rank).close();
            }
        }
        quick.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        slow.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        assertEquals(0, handles.open());
        source.close();
    }

    @Test
    void oneSealedBufferReachesThemAllOnceAndIsNeverCopied() throws Exception {
        start(0);
        for (int rank = 1; rank <= CHILDREN; rank++) {
            if (!isLate(rank)) {
                start(rank);
            }
        }
        slow.next().execute(this::waitForTheQuickOnes);
        slow.next().scheduleWithFixedDelay(() -> nap(NAP_MILLIS), 0, 1, TimeUnit.MILLISECONDS);
        long start = System.nanoTime();
        CopyTally before;
        long size;
        try (SealedBuffer message = message()) {
            before = CopyTally.snapshot();
            size = message.byteSize();
            Thread reader = Thread.ofPlatform().start(() -> unpackUntilOver(message.share()));
            CompletableFuture<BroadcastResult> all = sendToAll(message);
            Cluster.await("the quick ones have it", () -> reached.get() > CHILDREN / 3);
            startLate();
            BroadcastResult result = all.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertEquals(new BroadcastResult(CHILDREN, List.of(), result.nanos()), result);
            Cluster.await("every send is complete", () -> reached.get() == CHILDREN + 1);
            over = true;
            reader.join();
            // all handles on its bytes are back but for this one
            Cluster.await("handles", () -> handles.open() == 1);
        }
        CopyTally copied = CopyTally.snapshot().since(before);
        System.out.printf(
                "thousand: children=%d slow=%d late=%d seconds=%.1f quick-ms=%d slow-ms=%d message-bytes=%d"
                        + " source-bytes=%d copies=%d"
                        + " channel-bytes-each=%d landed-bytes-each=%d unpacked=%d%n",
                CHILDREN,
                CHILDREN / SLOW_EACH,
                CHILDREN / LATE_EACH,
                (System.nanoTime() - start) / 1e9,
                quickest.get() / 1_000_000,
                slowest.get() / 1_000_000,
                size,
                own.total(),
                copied.copies(),
                channels.bytes() / CHILDREN,
                landing.total() / CHILDREN,
                unpacked.get());
        check(copied);
    }

    private void check(CopyTally copied) {
        assertEquals(List.of(), List.copyOf(wrong));
        for (int rank = 0; rank <= CHILDREN; rank++) {
            assertEquals(1, sent.get(rank), "sends handled at " + rank);
            assertEquals(1, completed.get(rank), "completions of the send to " + rank);
            assertEquals(rank == 0 ? 0 : 1, broadcast.get(rank), "broadcasts handled at " + rank);
        }
        assertTrue(slowest.get() > quickest.get(), "no child was slow");
        assertTrue(unpacked.get() > 1, () -> "unpacked=" + unpacked);
        assertEquals(CAPACITY, own.total(), "one region was taken");
        assertEquals(0, own.used());
        assertEquals(0, copied.copies());
        // headers, hellos, acknowledgements, for both; nothing that grows with the message
        assertTrue(channels.bytes() < CHILDREN * 4096L, () -> "channels=" + channels.bytes());
        assertTrue(landing.total() < CHILDREN * 256L, () -> "landing=" + landing.total());
    }

    private static boolean isSlow(int rank) {
        return rank % SLOW_EACH == 0 && rank > 0;
    }

    private static boolean isLate(int rank) {
        return rank % LATE_EACH == 0 && rank > 0;
    }

    private static int quickChildren() {
        int quick = 0;
        for (int rank = 0; rank <= CHILDREN; rank++) {
            quick += isSlow(rank) || isLate(rank) ? 0 : 1;
        }
        return quick;
    }

    private void waitForTheQuickOnes() {
        try {
            if (!quickOnes.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                wrong.add("the quick ones wait for the slow ones: left=" + quickOnes.getCount());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void start(int rank) throws IOException {
        OobNodeBuilder setup = OobNode.builder(rank, CHILDREN + 1)
                .security(Security.plaintext())
                .directory(this::addressOf)
                .routing(new Star())
                .fragment(16 << 10)
                .heartbeat(PATIENCE.dividedBy(5))
                .helloDeadline(PATIENCE)
                .peerTimeout(PATIENCE);
        OobNode node = rank == 0
                ? setup.memory(landing).allocator(channels).start()
                : setup.memory(source).loops(isSlow(rank) ? slow : quick).start();
        node.receive(SENT, message -> received(sent, rank, message));
        node.receive(XCAST, message -> received(broadcast, rank, message));
        nodes.set(rank, node);
    }

    private void startLate() throws Exception {
        List<Thread> starting = new ArrayList<>();
        for (int rank = LATE_EACH; rank <= CHILDREN; rank += LATE_EACH) {
            assertEquals(0, sent.get(rank) + broadcast.get(rank) + completed.get(rank));
            int late = rank;
            // a loop that naps is slow to bind
            starting.add(Thread.ofVirtual().start(() -> {
                try {
                    start(late);
                } catch (IOException e) {
                    wrong.add("start of " + late + ": " + e);
                }
            }));
        }
        for (Thread each : starting) {
            each.join();
        }
    }

    private InetSocketAddress addressOf(int rank) {
        OobNode node = nodes.get(rank);
        return node == null ? null : node.address();
    }

    private SealedBuffer message() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(own, CAPACITY)) {
            Packer.into(builder, FORMAT).packString("to everybody").packByteObject(CONTENT);
            return builder.seal();
        }
    }

    private CompletableFuture<BroadcastResult> sendToAll(SealedBuffer message) {
        long start = System.nanoTime();
        for (int rank = CHILDREN; rank >= 0; rank--) {
            int to = rank;
            nodes.get(0).send(to, SENT, FORMAT, message).whenComplete((delivery, failure) -> {
                completed.incrementAndGet(to);
                if (!isLate(to)) {
                    (isSlow(to) ? slowest : quickest).set(System.nanoTime() - start);
                    if (!isSlow(to)) {
                        quickOnes.countDown();
                    }
                }
                reached.incrementAndGet();
                if (failure != null || delivery.status() != Delivery.Status.ACKNOWLEDGED) {
                    wrong.add("send to " + to + ": " + delivery + " " + failure);
                }
            });
        }
        return nodes.get(0).broadcast(XCAST, FORMAT, message).toCompletableFuture();
    }

    private void received(AtomicIntegerArray count, int rank, Message message) {
        count.incrementAndGet(rank);
        if (message.origin() != 0 || !isRight(message.buffer())) {
            wrong.add("bytes at " + rank);
        }
    }

    private static boolean isRight(SealedBuffer message) {
        Unpacker unpacker = Unpacker.of(message, FORMAT);
        return unpacker.unpackString().equals("to everybody")
                && unpacker.unpackByteObject().equals(IoVec.of(MemorySegment.ofArray(CONTENT)));
    }

    private void unpackUntilOver(SealedBuffer message) {
        try (message) {
            do {
                if (!isRight(message)) {
                    wrong.add("bytes here");
                }
                unpacked.incrementAndGet();
            } while (!over);
        }
    }

    private static void nap(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
