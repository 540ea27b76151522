// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.topology.PeerDirectory;
import io.bulla.runtime.oob.topology.Radix;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Nodes in one process, what they received and whom they lost, and a look for what they left behind.
final class Cluster implements AutoCloseable {

    static final int TAG = 5;

    private static final ValueLayout.OfInt BIG_INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    final LeaseTally handles = new LeaseTally();
    final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    final List<OobNode> nodes = new ArrayList<>();
    final BlockingQueue<String> lost = new LinkedBlockingQueue<>();
    final BlockingQueue<String> got = new LinkedBlockingQueue<>();
    final BlockingQueue<String> log = new LinkedBlockingQueue<>();
    PeerDirectory directory = peer -> nodes.get(peer).address();

    private final Logger logger = Logger.getLogger(OobNode.class.getName());
    private final Handler listener = new Handler() {
        @Override
        public void publish(LogRecord line) {
            log.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private final int looks;

    Cluster() {
        this(12_000);
    }

    /// @param looks how often [#close()] looks whether all handles are closed, each 5 ms
    Cluster(int looks) {
        this.looks = looks;
        // a lost connection is said at DEBUG
        logger.setLevel(Level.FINE);
        logger.addHandler(listener);
    }

    /// Starts nodes that put what they receive as "receiver from origin: number" into [#got].
    Cluster start(int size, UnaryOperator<OobNodeBuilder> setup) throws IOException {
        for (int rank = 0; rank < size; rank++) {
            add(rank, size, setup);
        }
        return this;
    }

    Cluster start(int size) throws IOException {
        return start(size, setup -> setup);
    }

    OobNode add(int rank, int size, UnaryOperator<OobNodeBuilder> setup) throws IOException {
        OobNode node = build(rank, size, setup);
        nodes.add(node);
        return node;
    }

    /// A node in the place of one that was ended.
    OobNode replace(int rank, int size, UnaryOperator<OobNodeBuilder> setup) throws IOException {
        OobNode node = build(rank, size, setup);
        nodes.set(rank, node);
        return node;
    }

    private OobNode build(int rank, int size, UnaryOperator<OobNodeBuilder> setup) throws IOException {
        OobNode node = setup.apply(OobNode.builder(rank, size)
                        .memory(source)
                        // some tests suspend it, and resume it there
                        .bind(SteadyPorts.next())
                        .security(Security.plaintext())
                        .directory(peer -> directory.addressOf(peer))
                        .routing(new Radix(3))
                        .limit(64 << 20)
                        .peerTimeout(Duration.ofSeconds(2))
                        .onPeerLost((peer, cause) -> lost.add(rank + ": " + cause.getMessage())))
                .start();
        node.receive(TAG, message -> got.add(rank + " from " + message.origin() + ": " + number(message.buffer())));
        return node;
    }

    OobNode node(int rank) {
        return nodes.get(rank);
    }

    InetSocketAddress address(int rank) {
        return nodes.get(rank).address();
    }

    /// Bytes that begin with a number, and go on in a way that depends on it.
    SealedBuffer numbered(int number, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes)) {
            return builder.putInt(number).put(behind(number, bytes - 4)).seal();
        }
    }

    /// The number, having looked at all bytes.
    static int number(SealedBuffer buffer) {
        int number = buffer.iovec().get(BIG_INT, 0);
        IoVec rest = buffer.iovec().slice(4, buffer.byteSize() - 4);
        IoVec expected = IoVec.of(MemorySegment.ofArray(behind(number, (int) rest.byteSize())));
        long at = rest.mismatch(expected);
        if (at >= 0) {
            throw new AssertionError("wrong byte: number=" + number + " at=" + (4 + at));
        }
        return number;
    }

    private static byte[] behind(int number, int bytes) {
        byte[] rest = new byte[bytes];
        for (int i = 0; i < rest.length; i++) {
            rest[i] = (byte) (number * 31 + i * 7 + (i >> 8));
        }
        return rest;
    }

    Send send(int from, int to, int number, int bytes) {
        return send(from, to, TAG, number, bytes, SendOptions.DEFAULT);
    }

    Send send(int from, int to, int tag, int number, int bytes, SendOptions options) {
        try (SealedBuffer message = numbered(number, bytes)) {
            return node(from).send(to, tag, message, options);
        }
    }

    String next() throws InterruptedException {
        return got.poll(10, TimeUnit.SECONDS);
    }

    /// The next line of a queue that contains `part`.
    static String line(BlockingQueue<String> lines, String part) throws InterruptedException {
        long deadline = System.nanoTime() + 10_000_000_000L;
        for (String line = ""; line != null; ) {
            line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line != null && line.contains(part)) {
                return line;
            }
        }
        throw new AssertionError("no line with " + part);
    }

    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        for (int wait = 0; !condition.getAsBoolean(); wait++) {
            assertTrue(wait < 12_000, what);
            Thread.sleep(5);
        }
    }

    static Delivery delivered(Send send) throws Exception {
        return send.get(10, TimeUnit.SECONDS);
    }

    /// The same for a lambda.
    static void deliveredNow(Send send) {
        try {
            delivered(send);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    /// Why a send failed.
    static Throwable failure(Send send) throws InterruptedException {
        try {
            throw new AssertionError("delivered: " + send.get(10, TimeUnit.SECONDS));
        } catch (TimeoutException e) {
            throw new AssertionError("never completed", e);
        } catch (java.util.concurrent.CancellationException cancelled) {
            return cancelled;
        } catch (java.util.concurrent.ExecutionException failed) {
            return failed.getCause();
        }
    }

    @Override
    public void close() {
        nodes.forEach(OobNode::close);
        logger.removeHandler(listener);
        logger.setLevel(null);
        for (int wait = 0; handles.open() > 0 && wait < looks; wait++) {
            LockSupport.parkNanos(5_000_000);
        }
        assertEquals(0, handles.open());
        source.close();
    }
}
