// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.grpc;

import com.google.protobuf.ListValue;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What a message costs a gRPC server for each stream that it goes to: processor time of the whole process, and heap.
///
/// The subscribers are in another process. The designs take turns in one JVM, so that they are measured beside each
/// other and the compiler sees all of them, as in a server with many methods. `above` is a design's time without that
/// of the floor, at least 1 ns.
public final class GrpcCost {

    private static final Pattern WANTED = Pattern.compile("(feed|relay) streams=(\\d+) bytes=(\\d+) .*");
    private static final long SETTLE_MILLIS = 30;

    private enum Length {
        QUICK(1000, 3, 300),
        NORMAL(2000, 5, 400);

        final long warmupNanos;
        final int windows;
        final long windowNanos;

        Length(long warmupMillis, int windows, long windowMillis) {
            this.warmupNanos = 1_000_000 * warmupMillis;
            this.windows = windows;
            this.windowNanos = 1_000_000 * windowMillis;
        }
    }

    /// What each design can do for a time.
    private interface Work {
        /// @return messages sent to every stream
        long run(long nanos) throws InterruptedException;
    }

    private record Cell(String kind, int streams, int bytes) {
        @Override
        public String toString() {
            return kind + " streams=" + streams + " bytes=" + bytes;
        }
    }

    private GrpcCost() {}

    /// @param args length, then the numbers that are wanted, as `feed streams=1000 bytes=16384 plain-cpu`
    public static void main(String[] args) throws Exception {
        Length length = Length.valueOf(args[0].toUpperCase(Locale.ROOT));
        Set<Cell> cells = new LinkedHashSet<>();
        for (int i = 1; i < args.length; i++) {
            Matcher wanted = WANTED.matcher(args[i]);
            if (!wanted.matches()) {
                throw new IllegalArgumentException("not a number that can be measured: " + args[i]);
            }
            cells.add(new Cell(wanted.group(1), Integer.parseInt(wanted.group(2)), Integer.parseInt(wanted.group(3))));
        }
        for (Cell cell : cells) {
            measure(cell, length);
        }
        System.exit(0);
    }

    private static void measure(Cell cell, Length length) throws Exception {
        try (ArenaSource memory = ArenaSource.create()) {
            SealedMarshaller sealed = SealedMarshaller.of(memory);
            Map<Design, Streams> streams = new EnumMap<>(Design.class);
            ServerServiceDefinition.Builder service = ServerServiceDefinition.builder("bulla.bench.Feed");
            for (Design design : Design.values()) {
                streams.put(design, Streams.of(design, sealed));
                service.addMethod(streams.get(design).method(design));
            }
            Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .addService(service.build())
                    .build()
                    .start();
            Process peer = peer(server.getPort(), cell);
            int origin = Integer.parseInt(
                    new BufferedReader(new InputStreamReader(peer.getInputStream(), StandardCharsets.US_ASCII))
                            .readLine());
            for (Streams each : streams.values()) {
                while (each.count() < cell.streams()) {
                    Thread.sleep(1);
                }
            }
            print(cell, costs(works(cell, streams, sealed, origin), cell.streams(), length));
            peer.destroy();
            peer.waitFor();
            server.shutdownNow().awaitTermination();
        }
    }

    private static Process peer(int port, Cell cell) throws Exception {
        return new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "--sun-misc-unsafe-memory-access=allow",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Peer.class.getName(),
                        "" + port,
                        "" + cell.streams(),
                        "" + cell.bytes())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Map<Design, Work> works(
            Cell cell, Map<Design, Streams> streams, SealedMarshaller sealed, int origin) {
        Map<Design, Work> works = new EnumMap<>(Design.class);
        if (cell.kind().equals("feed")) {
            ListValue message = Design.message(cell.bytes());
            streams.forEach((design, each) -> works.put(design, nanos -> feed(each, message, nanos)));
            return works;
        }
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), origin))
                .usePlaintext()
                .build();
        works.put(Design.PLAIN, Relay.plain(channel, streams.get(Design.PLAIN))::run);
        works.put(Design.SHARED, Relay.shared(channel, sealed, (Streams.Shared) streams.get(Design.SHARED))::run);
        // what the transport takes anyway
        ListValue message = Design.message(cell.bytes());
        works.put(Design.FLOOR, nanos -> feed(streams.get(Design.FLOOR), message, nanos));
        return works;
    }

    private static long feed(Streams streams, ListValue message, long nanos) throws InterruptedException {
        long messages = 0;
        for (long start = System.nanoTime(); System.nanoTime() - start < nanos; messages++) {
            streams.awaitReady();
            streams.publish(message);
        }
        streams.awaitReady();
        return messages;
    }

    private static Map<String, Double> costs(Map<Design, Work> works, int streams, Length length)
            throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            for (Work work : works.values()) {
                work.run(length.warmupNanos / 2);
            }
        }
        Map<String, double[]> windows = new TreeMap<>();
        for (int i = 0; i < length.windows; i++) {
            for (Map.Entry<Design, Work> each : works.entrySet()) {
                String name = each.getKey().name().toLowerCase(Locale.ROOT);
                Thread.sleep(SETTLE_MILLIS);
                long cpu = cpu();
                long heap = heap();
                long messages = each.getValue().run(length.windowNanos);
                Thread.sleep(SETTLE_MILLIS);
                double sends = (double) messages * streams;
                windows.computeIfAbsent(name + "-cpu", _ -> new double[length.windows])[i] = (cpu() - cpu) / sends;
                windows.computeIfAbsent(name + "-heap", _ -> new double[length.windows])[i] = (heap() - heap) / sends;
            }
        }
        return withAbove(windows);
    }

    private static Map<String, Double> withAbove(Map<String, double[]> windows) {
        Map<String, Double> costs = new TreeMap<>();
        windows.forEach((name, values) -> costs.put(name, Medians.of(values)));
        double floor = costs.get("floor-cpu");
        for (String name : new String[] {"plain", "array", "shared"}) {
            if (costs.containsKey(name + "-cpu")) {
                costs.put(name + "-above", Math.max(1, costs.get(name + "-cpu") - floor));
            }
        }
        return costs;
    }

    private static void print(Cell cell, Map<String, Double> costs) {
        costs.forEach((name, cost) -> System.out.printf(
                Locale.ROOT, "%s %s %s=%.1f%n", cell, name, name.endsWith("-heap") ? "bytes" : "ns", cost));
    }

    private static long cpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long heap() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }
}
