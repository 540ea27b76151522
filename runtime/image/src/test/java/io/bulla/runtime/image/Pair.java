// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// Two nodes that send each other numbered messages, and what came of them.
final class Pair implements AutoCloseable {

    static final int TAG = 7;

    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long SECONDS = 60;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
    final List<OobNode> nodes = new ArrayList<>();
    final BlockingQueue<String> lost = new LinkedBlockingQueue<>();
    private final List<BlockingQueue<Integer>> got = List.of(new LinkedBlockingQueue<>(), new LinkedBlockingQueue<>());
    private final List<List<Send>> sends = List.of(new ArrayList<>(), new ArrayList<>());
    private final int[] looked = new int[2];

    Pair(Duration peerTimeout) throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            BlockingQueue<Integer> received = got.get(rank);
            OobNode node = OobNode.builder(rank, 2)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(addresses::get)
                    .peerTimeout(peerTimeout)
                    .fragment(4096)
                    .onPeerLost((peer, cause) -> lost.add(cause.getMessage()))
                    .receive(
                            TAG,
                            message -> received.add(message.buffer().iovec().get(NUMBER, 0)))
                    .start();
            nodes.add(node);
            addresses.put(rank, node.address());
        }
    }

    OobNode[] all() {
        return nodes.toArray(OobNode[]::new);
    }

    /// The next number from one to the other.
    Send send(int from, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes)) {
            List<Send> before = sends.get(from);
            try (SealedBuffer message =
                    builder.putInt(before.size()).put(new byte[bytes - 4]).seal()) {
                before.add(nodes.get(from).send(1 - from, TAG, message));
            }
            return before.getLast();
        }
    }

    /// Short ones and long ones, both ways.
    void sendBothWays(int count) {
        for (int i = 0; i < count; i++) {
            send(i % 2, i % 5 == 0 ? 20_000 : 100);
        }
    }

    /// Each send completes once, and each message was handled once, in order.
    void allArriveOnce() throws Exception {
        for (int from = 0; from < 2; from++) {
            for (Send send : sends.get(from)) {
                send.get(SECONDS, TimeUnit.SECONDS);
            }
            while (looked[from] < sends.get(from).size()) {
                assertEquals(looked[from]++, got.get(1 - from).poll(SECONDS, TimeUnit.SECONDS));
            }
            assertTrue(got.get(1 - from).isEmpty(), "doubled");
            assertTrue(lost.isEmpty(), lost::toString);
        }
    }

    @Override
    public void close() {
        nodes.forEach(OobNode::close);
        for (int wait = 0; handles.open() > 0 && wait < 6_000; wait++) {
            try {
                Thread.sleep(10);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
        }
        assertEquals(0, handles.open());
        source.close();
    }
}
