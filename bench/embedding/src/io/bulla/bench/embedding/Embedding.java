// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.ListValue;
import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// One message to many, through layers that others wrote: as they do it, and with bytes that are packed once.
///
/// Prints processor time of the whole process and heap, for each message and receiver: the median of windows in which
/// the ways take turns. Receivers of sockets are in another process.
public final class Embedding {

    private static final long WINDOW_NANOS = 300_000_000L;
    private static final int WINDOWS = 5;

    /// Sends one message to all receivers, and returns when they have taken it.
    interface Way {
        void send() throws Exception;
    }

    /// One layer, with its ways by name; the first is what the layer does.
    interface Layer extends AutoCloseable {
        Map<String, Way> ways();

        int receivers();
    }

    interface Opening {
        Layer open(ArenaSource memory, ListValue message) throws Exception;
    }

    private Embedding() {}

    /// @param args bytes of a message, then names of layers
    public static void main(String[] args) throws Exception {
        Map<String, Opening> layers = new LinkedHashMap<>();
        layers.put("vertx", VertxNodes::new);
        layers.put("jgroups", JGroupsNodes::new);
        layers.put("kafka", KafkaTopics::new);
        layers.put("pekko", PekkoAssociations::new);
        layers.put("flight", FlightStreams::new);
        layers.put("flight-server", FlightServer::new);
        int bytes = Integer.parseInt(args[0]);
        List<String> wanted = args.length == 1 ? List.copyOf(layers.keySet()) : Arrays.asList(args).subList(1, args.length);
        for (String name : wanted) {
            try (ArenaSource memory = ArenaSource.create();
                    Layer layer = layers.get(name).open(memory, message(bytes))) {
                measure(name + " receivers=" + layer.receivers() + " bytes=" + bytes, layer);
            }
        }
        System.exit(0);
    }

    private static void measure(String cell, Layer layer) throws Exception {
        Map<String, double[]> cpu = new LinkedHashMap<>();
        Map<String, double[]> heap = new LinkedHashMap<>();
        for (int i = -3; i < WINDOWS; i++) {
            for (Map.Entry<String, Way> each : layer.ways().entrySet()) {
                long cpuBefore = cpu();
                long heapBefore = heap();
                long messages = 0;
                for (long start = System.nanoTime(); System.nanoTime() - start < WINDOW_NANOS; messages++) {
                    each.getValue().send();
                }
                double sends = (double) messages * layer.receivers();
                if (i >= 0) {
                    cpu.computeIfAbsent(each.getKey(), name -> new double[WINDOWS])[i] = (cpu() - cpuBefore) / sends;
                    heap.computeIfAbsent(each.getKey(), name -> new double[WINDOWS])[i] = (heap() - heapBefore) / sends;
                }
            }
        }
        double first = median(cpu.values().iterator().next());
        cpu.forEach((name, values) -> System.out.printf(
                Locale.ROOT,
                "%s %s cpu-ns=%.0f heap-bytes=%.0f times=%.2f%n",
                cell,
                name,
                median(values),
                median(heap.get(name)),
                first / median(values)));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /// About so many bytes in 200 fields.
    private static ListValue message(int bytes) {
        ListValue.Builder message = ListValue.newBuilder();
        String text = "x".repeat(Math.max(1, bytes / 200 - (bytes / 200 > 130 ? 6 : 4)));
        for (int i = 0; i < 200; i++) {
            message.addValuesBuilder().setStringValue(text);
        }
        return message.build();
    }

    private static long cpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long heap() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }
}
