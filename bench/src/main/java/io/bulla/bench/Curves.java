// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench;

import io.bulla.bench.Curve.Line;
import io.bulla.bench.Curve.Shape;
import io.bulla.buffer.FanOutBenchmark;
import io.bulla.interop.posix.UnixFanOutBenchmark;
import io.bulla.pack.IntsBenchmark;
import io.bulla.refcount.CountBenchmark;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;

/// What is drawn: cost against size, against peers, against threads.
final class Curves {

    private static final double[] SIZES = {1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22};
    private static final double[] PEERS = {1, 8, 64};
    private static final double[] THREADS = {1, 2, 4};
    private static final double[] COUNTS = {1, 10, 100, 1000, 4096, 65536};

    private Curves() {}

    static List<Curve> all() {
        return List.of(
                countThreads(),
                fanOutSizes(),
                fanOutPeers(),
                unixFanOut(),
                packCounts(),
                handOverSizes(),
                memoryOverTime());
    }

    private static Curve countThreads() {
        return new Curve(
                "count-threads",
                "Share and close of one buffer by every thread",
                "threads",
                "ns",
                Shape.LINEAR,
                THREADS,
                List.of(
                        at(THREADS, "Bulla", n -> count("shareThenClose", n)),
                        at(THREADS, "one word, getAndAdd and CAS", n -> count("oneWord", n)),
                        at(THREADS, "Netty retainedDuplicate", n -> count("nettyRetainedDuplicate", n))));
    }

    private static Curve fanOutSizes() {
        return new Curve(
                "fan-out-sizes",
                "One message queued for 64 peers and let go by all, no kernel",
                "bytes of the message",
                "ns",
                Shape.LOGARITHMIC,
                SIZES,
                List.of(
                        at(SIZES, "Bulla shares", size -> fanOut("shared", size, 64)),
                        at(SIZES, "Netty retainedDuplicate", size -> fanOut("nettyRetainedDuplicate", size, 64)),
                        at(SIZES, "pooled copies", size -> fanOut("copyPooled", size, 64)),
                        at(SIZES, "heap copies", size -> fanOut("copyHeap", size, 64))));
    }

    private static Curve fanOutPeers() {
        double size = 1 << 16;
        return new Curve(
                "fan-out-peers",
                "A message of 64 KiB queued for some peers and let go by all, no kernel",
                "peers",
                "ns",
                Shape.LOGARITHMIC,
                PEERS,
                List.of(
                        at(PEERS, "Bulla shares", peers -> fanOut("shared", size, peers)),
                        at(PEERS, "Netty retainedDuplicate", peers -> fanOut("nettyRetainedDuplicate", size, peers)),
                        at(PEERS, "pooled copies", peers -> fanOut("copyPooled", size, peers)),
                        at(PEERS, "heap copies", peers -> fanOut("copyHeap", size, peers))));
    }

    private static Curve unixFanOut() {
        double[] sizes = {1 << 10, 1 << 16, 1 << 18, 1 << 22};
        return new Curve(
                "unix-fan-out",
                "One message through 64 unix sockets, with the kernel's two copies",
                "bytes of the message",
                "ns",
                Shape.BARS,
                sizes,
                List.of(
                        at(sizes, "the kernel's copies alone", size -> unix("baseline", size)),
                        at(sizes, "Bulla shares", size -> unix("shared", size)),
                        at(sizes, "pooled copies", size -> unix("copiedPooled", size)),
                        at(sizes, "malloc and copy", size -> unix("copied", size))));
    }

    private static Curve packCounts() {
        return new Curve(
                "pack-counts",
                "int32 packed, an item of so many",
                "numbers in the item",
                "ns",
                Shape.LOGARITHMIC,
                COUNTS,
                List.of(
                        at(COUNTS, "OPAL DSS", n -> ints("pack", "OPAL_DSS", n)),
                        at(COUNTS, "PMIx, flex128", n -> ints("pack", "PMIX_4", n)),
                        at(COUNTS, "a copy of the bytes", n -> ints("copyIn", "OPAL_DSS", n))));
    }

    private static Curve handOverSizes() {
        double[] sizes = {1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 24};
        return new Curve(
                "hand-over-sizes",
                "One message to 64 processes, until all have it",
                "bytes of the message",
                "ms",
                Shape.LOGARITHMIC,
                sizes,
                List.of(
                        at(sizes, "the seal, as a descriptor", size -> HandOver.of("seal", (int) size)),
                        at(sizes, "the bytes, through a socket", size -> HandOver.of("copy", (int) size))));
    }

    private static Curve memoryOverTime() {
        double[] times = IntStream.rangeClosed(1, MemoryOverTime.SAMPLES)
                .mapToDouble(i -> i * MemoryOverTime.SAMPLE_MILLIS)
                .toArray();
        return new Curve(
                "memory-over-time",
                "Resident memory: 1 MiB to 64 slow peers ten times a second for 3 s, then nothing",
                "milliseconds",
                "MiB",
                Shape.LINEAR,
                times,
                List.of(
                        resident(times, "Bulla shares", "shares"),
                        resident(times, "malloc and copy", "copy-malloc"),
                        resident(times, "pooled copies", "copy-pooled"),
                        resident(times, "heap copies", "copy-heap")));
    }

    private static Line resident(double[] times, String label, String design) {
        SharedRun run = SharedRun.program(MemoryOverTime.class, _ -> List.of(design));
        return at(
                times,
                label,
                millis -> new Case(
                        "MemoryOverTime[" + design + "," + (int) millis + "]",
                        "MiB",
                        run.reading("millis=" + (int) millis)));
    }

    private static Line at(double[] places, String label, DoubleFunction<Case> each) {
        return new Line(label, Arrays.stream(places).mapToObj(each).toList());
    }

    private static Case count(String method, double threads) {
        return Case.jmh(CountBenchmark.class, method, (int) threads);
    }

    private static Case fanOut(String method, double size, double peers) {
        return Case.jmh(FanOutBenchmark.class, method, 1, "size=" + (int) size, "fanOut=" + (int) peers);
    }

    private static Case unix(String method, double size) {
        return Case.jmh(UnixFanOutBenchmark.class, method, 1, "size=" + (int) size);
    }

    private static Case ints(String method, String format, double count) {
        return Case.jmh(IntsBenchmark.class, method, 1, "format=" + format, "values=small", "count=" + (int) count);
    }
}
