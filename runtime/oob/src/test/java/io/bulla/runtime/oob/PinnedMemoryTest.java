// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A small message that is held for long does not hold the batch in which it came, or is counted with it.
@Timeout(120)
class PinnedMemoryTest {

    private static final int ROUNDS = 100;
    private static final int HANDLED = 30;
    private static final int KEPT = 9;

    private final Cluster cluster = new Cluster();
    private final MeteredSource memory = new MeteredSource(cluster.source);
    private final AtomicInteger handled = new AtomicInteger();

    @AfterEach
    void nothingIsLeft() {
        cluster.close();
        assertEquals(0, memory.used());
    }

    /// Rounds of 30 messages that are handled and one empty one without a receiver, in batches.
    private OobNode receiver(MemorySource source, long unclaimedLimit) throws Exception {
        cluster.directory = peer -> cluster.nodes.size() > 1 ? cluster.address(peer) : null;
        OobNode sender = cluster.add(0, 2, setup -> setup);
        // all of it is queued before there is a connection
        try (SealedBuffer full = cluster.numbered(1, 1000);
                SealedBuffer empty = full.slice(0, 0)) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < HANDLED; i++) {
                    sender.send(1, Cluster.TAG, full);
                }
                sender.send(1, KEPT, empty);
            }
        }
        return cluster.add(
                1,
                2,
                setup -> setup.memory(source)
                        .unclaimedLimit(unclaimedLimit)
                        .receive(Cluster.TAG, message -> handled.incrementAndGet()));
    }

    private void awaitHandled(OobNode node) throws Exception {
        AtomicInteger own = new AtomicInteger();
        node.receive(Cluster.TAG, message -> own.incrementAndGet());
        Cluster.await("handled", () -> handled.get() + own.get() + cluster.got.size() == ROUNDS * HANDLED);
        Cluster.await("kept", () -> node.unclaimedBytes() >= (long) ROUNDS * Frame.BYTES);
    }

    /// A handler counts a message before its handle is closed.
    private void awaitUsed(long most) throws Exception {
        Cluster.await("at most " + most + " bytes held", () -> memory.used() <= most);
    }

    @Test
    void messageWithoutAReceiverDoesNotKeepItsBatch() throws Exception {
        OobNode node = receiver(memory, 1 << 20);
        awaitHandled(node);
        awaitUsed(node.unclaimedBytes());
        assertEquals((long) ROUNDS * Frame.BYTES, node.unclaimedBytes(), "it counts as a batch");
    }

    @Test
    void messageThatHoldsItsSendersCreditDoesNotKeepItsBatchEither() throws Exception {
        OobNode node = receiver(memory, 0);
        awaitHandled(node);
        awaitUsed(node.unclaimedBytes());
        assertEquals((long) ROUNDS * Frame.BYTES, node.unclaimedBytes(), "it counts as a batch");
    }

    @Test
    void whatCannotBeCopiedIsCountedWithWhatItPins() throws Exception {
        MemorySource noCopies = new MemorySource() {
            @Override
            public Region allocate(long byteSize) {
                if (byteSize == 1) {
                    throw new IllegalStateException("no memory for a copy, as told");
                }
                return memory.allocate(byteSize);
            }

            @Override
            public MemorySegment seal(Region region, long used) {
                return memory.seal(region, used);
            }
        };
        OobNode node = receiver(noCopies, 1 << 30);
        awaitHandled(node);
        assertTrue(node.unclaimedBytes() >= memory.used(), node.unclaimedBytes() + " of " + memory.used());
    }

    /// A peer that fills batches with what is dropped at once: the one message in each waits for the handler.
    @Test
    void messageInABatchOfWhatIsSkippedDoesNotKeepTheBatch() throws Exception {
        cluster.directory = peer -> peer == 1 ? cluster.address(1) : null;
        CountDownLatch block = new CountDownLatch(1);
        AtomicBoolean begun = new AtomicBoolean();
        cluster.add(0, 3, setup -> setup);
        OobNode node = cluster.add(1, 3, setup -> setup.memory(memory));
        node.receive(Cluster.TAG, message -> {
            begun.set(true);
            await(block);
        });
        try (SocketChannel member = SocketChannel.open(cluster.address(1))) {
            say(member, Wire.hello(Frame.VERSION, Frame.VERSION, 2, 3, 1, 77, 0));
            Wire.read(member, Frame.BYTES);
            int skips = 900;
            long sequence = 0;
            for (int round = 0; round < ROUNDS; round++) {
                ByteBuf batch = Unpooled.buffer();
                Frame.control(Frame.Kind.BATCH, 0, 2, (skips + 1) * Frame.BYTES).writeTo(batch);
                frame(batch, Frame.Kind.DIRECT, sequence++);
                for (int i = 0; i < skips; i++) {
                    frame(batch, Frame.Kind.SKIP, sequence++);
                }
                say(member, batch.nioBuffer());
            }
            Cluster.await("arrived", () -> received(node) == ROUNDS);
            Cluster.await("begun", begun::get);
            awaitUsed(ROUNDS * 2 * Frame.BYTES);
        } finally {
            block.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long received(OobNode node) {
        return node.stats().stream()
                .filter(peer -> peer.peer() == 2)
                .mapToLong(PeerStats::receivedMessages)
                .sum();
    }

    private static void frame(ByteBuf out, Frame.Kind kind, long sequence) {
        new Frame(kind, Cluster.TAG, 2, Optional.empty(), false, sequence, 0, 0, 0, 0, 0, 0).writeTo(out);
    }

    private static void say(SocketChannel channel, ByteBuffer words) throws Exception {
        while (words.hasRemaining()) {
            channel.write(words);
        }
    }
}
