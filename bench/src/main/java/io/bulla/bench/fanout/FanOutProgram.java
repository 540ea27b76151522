// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import io.bulla.bench.numbers.Medians;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Gives messages of several sizes to several numbers of peers, in one design, and prints a line for each:
///
/// ```
/// peers=64 bytes=1024 nanos=123456.7
/// ```
///
/// the median of some batches, each of several fan-outs. Before it measures, it has every peer compare the bytes
/// of a fan-out with what was sent.
///
/// Arguments: transport, design, `normal` or `quick`, and what to do, as in the lines, `peers=64 bytes=1024`; or
/// `smoke`: every design of every transport once, to see that the bytes arrive.
public final class FanOutProgram {

    private static final Pattern CELL = Pattern.compile("peers=(\\d+) bytes=(\\d+)");

    private static final long WARM_NANOS = 600_000_000;

    /// How long a cell takes at most, but for one fan-out that takes longer.
    private enum Length {
        QUICK(40, 3, 20),
        NORMAL(120, 7, 40);

        final long warmupNanos;
        final int batches;
        final long batchNanos;

        Length(long warmupMillis, int batches, long batchMillis) {
            this.warmupNanos = 1_000_000 * warmupMillis;
            this.batches = batches;
            this.batchNanos = 1_000_000 * batchMillis;
        }
    }

    private record Cell(int peers, int bytes) {

        static Cell of(String words) {
            Matcher matcher = CELL.matcher(words);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("not peers and bytes: " + words);
            }
            return new Cell(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
        }
    }

    private FanOutProgram() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("smoke")) {
            smoke();
            return;
        }
        Transport transport = Transport.valueOf(args[0]);
        Length length = Length.valueOf(args[2].toUpperCase(Locale.ROOT));
        List<Cell> cells = Arrays.stream(args)
                .skip(3)
                .map(Cell::of)
                .sorted(Comparator.comparing(Cell::bytes).thenComparing(Cell::peers))
                .toList();
        warm(transport, args[1]);
        for (Cell cell : cells) {
            measure(transport, args[1], cell, length);
        }
        // whatever threads there still are
        System.exit(0);
    }

    /// The first cell would pay for all of the compiling.
    private static void warm(Transport transport, String design) throws Exception {
        for (int bytes : new int[] {1 << 10, 1 << 16}) {
            try (FanOut fanOut = transport.open(design, Message.ofSize(bytes), 8)) {
                long start = System.nanoTime();
                while (System.nanoTime() - start < WARM_NANOS) {
                    fanOut.run(10);
                }
            }
        }
    }

    private static void measure(Transport transport, String design, Cell cell, Length length) throws Exception {
        try (FanOut fanOut = transport.open(design, Message.ofSize(cell.bytes()), cell.peers())) {
            checked(fanOut);
            int times = warmUp(fanOut, length);
            double[] nanos = new double[length.batches];
            for (int i = 0; i < nanos.length; i++) {
                nanos[i] = nanos(fanOut, times) / (double) times;
            }
            System.out.printf(
                    Locale.ROOT, "peers=%d bytes=%d nanos=%.1f%n", cell.peers(), cell.bytes(), Medians.of(nanos));
        }
    }

    private static void checked(FanOut fanOut) throws Exception {
        fanOut.compare(true);
        fanOut.run(1);
        fanOut.compare(false);
    }

    /// How many fan-outs fill a batch, at least one.
    private static int warmUp(FanOut fanOut, Length length) throws Exception {
        long start = System.nanoTime();
        int times = 1;
        while (true) {
            long nanos = nanos(fanOut, times);
            if (System.nanoTime() - start > length.warmupNanos) {
                return (int) Math.max(1, length.batchNanos * times / Math.max(1, nanos));
            }
            if (nanos < length.batchNanos) {
                times *= 2;
            }
        }
    }

    private static long nanos(FanOut fanOut, int times) throws Exception {
        long start = System.nanoTime();
        fanOut.run(times);
        return System.nanoTime() - start;
    }

    private static void smoke() throws Exception {
        int count = 0;
        for (Transport transport : Transport.values()) {
            for (String design : transport.designs()) {
                for (int size : new int[] {64, 1 << 18}) {
                    try (FanOut fanOut = transport.open(design, Message.ofSize(size), 3)) {
                        fanOut.compare(true);
                        fanOut.run(2);
                        count++;
                    }
                }
            }
        }
        System.out.println("fan-out smoke: passed=" + count);
        System.exit(0);
    }
}
