// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.memfd.HugePages;
import io.bulla.registration.PinBudget;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.fabric.FabricBulk;
import io.bulla.runtime.oob.security.Security;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Messages from a node to one of another process, four on their way at a time, each acknowledged; prints the
/// microseconds a message. Both nodes have pools of huge pages. Arguments: `connection`, or a provider by which the
/// messages go beside it; bytes. The other process has a third one, the first node's port.
public final class BulkStream {

    private static final int TAG = 1;
    private static final int ON_THEIR_WAY = 4;
    private static final long BYTES_IN_ALL = 2L << 30;
    private static final long LONGEST_SECONDS = 120;

    private BulkStream() {}

    public static void main(String... args) throws Exception {
        AtomicInteger port = new AtomicInteger(args.length == 3 ? Integer.parseInt(args[2]) : 0);
        SlabSource memory = SlabSource.builder()
                .budget(MemoryBudget.unlimited())
                .supplier(new HugePages())
                .idle(Duration.ofHours(1))
                .build();
        FabricBulk bulk = args[0].equals("connection")
                ? null
                : FabricBulk.open(args[0], memory, new PinBudget(Long.MAX_VALUE), Duration.ofSeconds(LONGEST_SECONDS));
        try (OobNode node = node(args.length == 3 ? 1 : 0, memory, bulk, port)) {
            if (args.length == 3) {
                System.out.println(node.address().getPort());
                // until the first process ends this one
                System.in.read();
            } else {
                stream(node, memory, bulk, port, args);
            }
        }
        System.exit(0);
    }

    private static OobNode node(int rank, SlabSource memory, @Nullable FabricBulk bulk, AtomicInteger port)
            throws Exception {
        OobNodeBuilder builder = OobNode.builder(rank, 2)
                .memory(memory)
                .security(Security.plaintext())
                .directory(peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port.get()))
                .limit(1L << 30)
                .receive(TAG, message -> {});
        return (bulk == null ? builder : builder.bulk(bulk, 1 << 20)).start();
    }

    private static void stream(
            OobNode node, SlabSource memory, @Nullable FabricBulk bulk, AtomicInteger port, String... args)
            throws Exception {
        int bytes = Integer.parseInt(args[1]);
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BulkStream.class.getName(),
                        args[0],
                        args[1],
                        Integer.toString(node.address().getPort()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader from = other.inputReader();
                SealedBuffer message = message(memory, bytes)) {
            port.set(Integer.parseInt(from.readLine()));
            int messages = (int) Math.max(64, BYTES_IN_ALL / bytes);
            send(node, message, messages / 4);
            long start = System.nanoTime();
            send(node, message, messages);
            double micros = (System.nanoTime() - start) / 1000.0 / messages;
            if (bulk != null && bulk.figures().sent() < messages) {
                throw new IllegalStateException("not by the fabric: " + bulk.figures());
            }
            System.out.println(micros);
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    private static SealedBuffer message(SlabSource memory, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, bytes)) {
            return builder.put(new byte[bytes]).seal();
        }
    }

    private static void send(OobNode node, SealedBuffer message, int messages) throws Exception {
        Queue<Send> onTheirWay = new ArrayDeque<>();
        for (int i = 0; i < messages; i++) {
            if (onTheirWay.size() == ON_THEIR_WAY) {
                onTheirWay.remove().get(LONGEST_SECONDS, TimeUnit.SECONDS);
            }
            onTheirWay.add(node.send(1, TAG, message));
        }
        for (Send each : onTheirWay) {
            each.get(LONGEST_SECONDS, TimeUnit.SECONDS);
        }
    }
}
