// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.websocket;

import io.bulla.bench.numbers.Medians;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/// Processor time and heap of ways that take turns, in windows of the same length.
final class Windows {

    enum Length {
        QUICK(1000, 3, 200),
        NORMAL(4000, 7, 400);

        final long warmupNanos;
        final int windows;
        final long windowNanos;

        Length(long warmupMillis, int windows, long windowMillis) {
            this.warmupNanos = 1_000_000 * warmupMillis;
            this.windows = windows;
            this.windowNanos = 1_000_000 * windowMillis;
        }
    }

    /// Sends one message to all clients.
    interface Broadcast {
        void run() throws Exception;
    }

    private Windows() {}

    /// Prints medians, for each client, as `deflate bytes=2048 prepared-cpu ns=93.1`.
    static void print(
            Cell cell, Map<Way, Broadcast> ways, int clients, Length length, LongSupplier cpu, LongSupplier heap)
            throws Exception {
        medians(cell, ways, clients, length, cpu, heap)
                .forEach((name, median) -> System.out.printf(Locale.ROOT, "%s=%.1f%n", name, median));
    }

    /// Medians for each client: `deflate bytes=2048 prepared-cpu ns`.
    static Map<String, Double> medians(
            Cell cell, Map<Way, Broadcast> ways, int clients, Length length, LongSupplier cpu, LongSupplier heap)
            throws Exception {
        for (int i = 0; i < 2; i++) {
            for (Broadcast each : ways.values()) {
                run(each, length.warmupNanos / 2);
            }
        }
        Map<String, double[]> windows = new TreeMap<>();
        for (int i = 0; i < length.windows; i++) {
            for (Map.Entry<Way, Broadcast> each : ways.entrySet()) {
                long cpuBefore = cpu.getAsLong();
                long heapBefore = heap.getAsLong();
                double sends = (double) run(each.getValue(), length.windowNanos) * clients;
                double heapEach = (heap.getAsLong() - heapBefore) / sends;
                double cpuEach = (cpu.getAsLong() - cpuBefore) / sends;
                String name = cell + " " + each.getKey().name().toLowerCase(Locale.ROOT);
                windows.computeIfAbsent(name + "-cpu ns", _ -> new double[length.windows])[i] = cpuEach;
                windows.computeIfAbsent(name + "-heap bytes", _ -> new double[length.windows])[i] = heapEach;
            }
        }
        Map<String, Double> medians = new TreeMap<>();
        windows.forEach((name, values) -> medians.put(name, Medians.of(values)));
        return medians;
    }

    private static long run(Broadcast each, long nanos) throws Exception {
        long messages = 0;
        for (long start = System.nanoTime(); messages == 0 || System.nanoTime() - start < nanos; messages++) {
            each.run();
        }
        return messages;
    }
}
