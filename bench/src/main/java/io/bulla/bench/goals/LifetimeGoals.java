// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.Bystander;
import io.bulla.bench.programs.ChunkPrice;
import io.bulla.bench.programs.ClosersRace;
import io.bulla.buffer.BuildBenchmark;
import io.bulla.buffer.BuildFloorBenchmark;
import io.bulla.buffer.ReadBenchmark;
import io.bulla.buffer.ReaderBenchmark;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.CountBenchmark;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jol.info.ClassLayout;

/// What the count, the handles and the memory beneath them may cost.
public final class LifetimeGoals {

    private static final String[] CHUNKS = {"262144", "1048576", "4194304", "16777216"};

    /// Of what the JDK alone takes for the same: where that is more than was wanted of a rival.
    private static final double FLOOR = 1.5;

    private LifetimeGoals() {}

    public static List<Goal> all() {
        Case share = count("shareThenClose", 1);
        Case shareOnTwo = count("shareThenClose", 2);
        Case escaping = count("shareThenCloseEscaping", 1);
        Case netty = count("nettyRetainedDuplicate", 1);
        Case nettyOnTwo = count("nettyRetainedDuplicate", 2);
        Case build = build("sealed", CHUNKS[2]);
        List<Goal> goals = new ArrayList<>(List.of(
                Goal.atMost(1.2, "share-close-1t", share, count("baseline", 1)),
                Goal.atMost(1.5, "share-close-2t", shareOnTwo, share),
                Goal.compare("share-close-2t-netty", nettyOnTwo, netty),
                Goal.compare("share-close-2t-one-word", count("oneWord", 2), count("oneWord", 1)),
                Goal.atMost(
                        1.5,
                        "closers-2t",
                        Case.program("ns", ClosersRace.class, "2"),
                        Case.program("ns", ClosersRace.class, "1")),
                Goal.atMost(0.8, "shares-64", count("sharesThenCloses", 1), escaping),
                Goal.atMost(1.05, "read-5-fields", read("checked"), read("unchecked")),
                Goal.compare("read-5-fields-segment", read("checked"), read("baseline")),
                Goal.compare("read-5-fields-netty", read("checked"), read("netty")),
                Goal.atMost(1.0, "read-1000", reader("reader"), reader("byteBuffer")),
                Goal.compare("read-1000-fresh", reader("freshReader"), reader("byteBuffer")),
                Goal.compare("read-1000-netty", reader("reader"), reader("netty")),
                // the JDK's bare segment alone takes longer than Netty's reader
                Goal.atMost(FLOOR, "read-1000-floor", reader("reader"), reader("baseline")),
                Goal.compare("read-1000-regions", reader("manyRegions"), reader("byteBuffer")),
                Goal.compare("read-1000-record", reader("record"), reader("byteBuffer")),
                Goal.atMost(FLOOR, "read-1000-record-floor", reader("record"), reader("baselineSlices")),
                Goal.compare("read-1000-record-regions", reader("recordOfManyRegions"), reader("byteBuffer")),
                Goal.atMost(
                        FLOOR,
                        "read-1000-record-regions-floor",
                        reader("recordOfManyRegions"),
                        reader("baselinePieces")),
                // memory that is handed out once takes more than 1.5 of `malloc` with nothing of Bulla, and more than
                // Netty's adaptive allocator, which hands it out again
                Goal.compare("build-1k", build, build("mallocThenFree", CHUNKS[2])),
                Goal.atMost(FLOOR, "build-1k-floor", build, Case.jmh(BuildFloorBenchmark.class, "life", 1)),
                Goal.atMost(1.0, "build-1k-netty-pooled", build, build("nettyPooled", CHUNKS[2])),
                Goal.compare("build-1k-netty-adaptive", build, build("nettyAdaptive", CHUNKS[2])),
                Goal.compare("build-1k-arenas", build, build("arenaEach", CHUNKS[2])),
                Goal.compare("build-1k-reused", build("sealedReused", CHUNKS[2]), build("mallocThenFree", CHUNKS[2])),
                Goal.atMost(
                        32.0 / 32,
                        "bytes-per-share",
                        Case.value(
                                "SealedBuffer",
                                "bytes",
                                () -> ClassLayout.parseClass(SealedBuffer.class).instanceSize()),
                        Case.limit(32, "bytes")),
                Goal.atMost(1.01, "trace-off", share, count("shareThenCloseUntraced", 1)),
                Goal.compare("trace-sampled", count("shareThenCloseSampled", 1), share),
                Goal.compare("trace-full", count("shareThenCloseListed", 1), share)));
        for (String chunk : CHUNKS) {
            goals.add(Goal.compare(
                    "chunk-" + chunk + "-bystander",
                    Case.program("ns", Bystander.class, chunk),
                    Case.program("ns", Bystander.class, "0")));
            goals.add(Goal.compare("chunk-" + chunk + "-nanos", build("sealed", chunk), build));
            goals.add(Goal.compare(
                    "chunk-" + chunk + "-resident-bytes",
                    Case.program("bytes", ChunkPrice.class, chunk),
                    Case.value("chunk-" + chunk, "bytes", () -> Double.parseDouble(chunk))));
        }
        return goals;
    }

    private static Case count(String method, int threads) {
        return Case.jmh(CountBenchmark.class, method, threads);
    }

    private static Case read(String method) {
        return Case.jmh(ReadBenchmark.class, method, 1);
    }

    private static Case reader(String method) {
        return Case.jmh(ReaderBenchmark.class, method, 1);
    }

    private static Case build(String method, String chunk) {
        return Case.jmh(BuildBenchmark.class, method, 1, "chunk=" + chunk);
    }
}
