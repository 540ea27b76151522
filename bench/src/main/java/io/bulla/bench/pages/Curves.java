// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.HandOver;
import io.bulla.bench.goals.PoolGoals;
import io.bulla.bench.goals.SharedRun;
import io.bulla.bench.pages.Curve.Line;
import io.bulla.bench.pages.Curve.Shape;
import io.bulla.bench.programs.Burst;
import io.bulla.bench.programs.MemoryOverTime;
import io.bulla.buffer.FanOutBenchmark;
import io.bulla.pack.IntsBenchmark;
import io.bulla.posix.UnixFanOutBenchmark;
import io.bulla.refcount.CountBenchmark;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;

/// What is drawn: cost against size, against peers, against threads.
public final class Curves {

    private static final double[] SIZES = {1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22};
    private static final double[] PEERS = {1, 8, 64};
    private static final double[] THREADS = {1, 2, 4};
    private static final double[] COUNTS = {1, 10, 100, 1000, 4096, 65536};

    private Curves() {}

    public static List<Curve> all() {
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
                "Share and close one buffer, all threads at once",
                "With one thread the plain counter is cheaper; from two threads on, Bulla's spread count takes a fraction of what"
                        + " a single counter takes.",
                "threads",
                "ns",
                Shape.RATIOS,
                THREADS,
                List.of(
                        at(THREADS, "Bulla", n -> count("shareThenClose", n)),
                        at(THREADS, "one counter", n -> count("oneWord", n)),
                        at(THREADS, "Netty retainedDuplicate", n -> count("nettyRetainedDuplicate", n))));
    }

    private static Curve fanOutSizes() {
        return new Curve(
                "fan-out-sizes",
                "Queue one message for 64 peers and complete all sends, without a kernel",
                "Bulla takes the same time at every size; a copy for each peer takes longer the larger the message is.",
                "bytes of the message",
                "ns",
                Shape.RATIOS,
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
                "Queue 64 KiB for some peers and complete all sends, without a kernel",
                "Sharing wins already with one peer, because even a single copy takes longer than a handle.",
                "peers",
                "ns",
                Shape.RATIOS,
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
                "Send one message through 64 unix sockets",
                "Bulla stays close to the kernel's own copies at every size; the program's own copies cost more from 64 KiB on.",
                "bytes of the message",
                "ns",
                Shape.RATIOS,
                sizes,
                List.of(
                        at(sizes, "Bulla shares", size -> unix("shared", size)),
                        at(sizes, "the kernel's copies alone", size -> unix("baseline", size)),
                        at(sizes, "pooled copies", size -> unix("copiedPooled", size)),
                        at(sizes, "malloc and copy", size -> unix("copied", size))));
    }

    private static Curve packCounts() {
        return new Curve(
                "pack-counts",
                "Pack one item of int32 numbers",
                "OPAL DSS costs about a copy plus the item's head; PMIx codes each number and pays for that per number.",
                "numbers",
                "ns",
                Shape.RATIOS,
                COUNTS,
                List.of(
                        at(COUNTS, "Bulla, OPAL DSS", n -> ints("pack", "OPAL_DSS", n)),
                        at(COUNTS, "Bulla, PMIx flex128", n -> ints("pack", "PMIX_4", n)),
                        at(COUNTS, "a copy of the bytes", n -> ints("copyIn", "OPAL_DSS", n))));
    }

    private static Curve handOverSizes() {
        double[] sizes = {1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 24};
        return new Curve(
                "hand-over-sizes",
                "Hand one message to 64 processes, until all have it",
                "The descriptor takes the same time at every size; the socket takes longer with every byte.",
                "bytes of the message",
                "ms",
                Shape.RATIOS,
                sizes,
                List.of(
                        at(sizes, "Bulla, as a descriptor", size -> HandOver.of("seal", (int) size)),
                        at(sizes, "the bytes, by a socket", size -> HandOver.of("copy", (int) size))));
    }

    private static Curve memoryOverTime() {
        double[] times = IntStream.rangeClosed(1, MemoryOverTime.SAMPLES)
                .mapToDouble(i -> i * MemoryOverTime.SAMPLE_MILLIS)
                .toArray();
        return new Curve(
                "memory-over-time",
                "Resident memory: 1 MiB to 64 slow peers ten times a second for 3 s, then nothing",
                "Bulla's line stays near the bottom: one message in memory, where copies hold one for each peer.",
                "milliseconds",
                "MiB",
                Shape.TIMES,
                times,
                List.of(
                        resident(times, "Bulla shares", "shares"),
                        resident(times, "malloc and copy", "copy-malloc"),
                        resident(times, "pooled copies", "copy-pooled"),
                        resident(times, "heap copies", "copy-heap")));
    }

    /// The curve of the pool's group.
    ///
    /// @return what stays of a burst
    public static Curve burst() {
        double[] times = IntStream.rangeClosed(1, Burst.SAMPLES)
                .mapToDouble(i -> i * Burst.SAMPLE_MILLIS)
                .toArray();
        return new Curve(
                "pool-burst",
                "Resident memory: 1 GiB of messages, held for 2 s, then let go of",
                "Bulla's pool gives back what it took within a second; some rivals keep the burst.",
                "milliseconds",
                "MiB",
                Shape.TIMES,
                times,
                List.of(
                        burst(times, "Bulla pool", "pool"),
                        burst(times, "Bulla default source", "arenas"),
                        burst(times, "Netty adaptive", "netty-adaptive"),
                        burst(times, "Netty pooled", "netty-pooled"),
                        burst(times, "malloc", "malloc")));
    }

    private static Line burst(double[] times, String label, String design) {
        return at(times, label, millis -> PoolGoals.burstOverTime(design, (int) millis));
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
