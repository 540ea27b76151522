// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Machine;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseTally;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// Nodes under full load, and whether what their process holds stays as it was.
@Command(
        name = "check soak",
        mixinStandardHelpOptions = true,
        description = "Twelve nodes under full load, four of them with TLS: memory, descriptors, threads and handles"
                + " every few seconds. Status 1 if one of them has grown, a send failed, or a handle stays.")
public final class Soak implements Callable<Integer> {

    private static final int PLAIN_NODES = 8;
    private static final int TLS_NODES = 4;
    // classes, compilers and pools fill up
    private static final int WARMUP_SECONDS = 20;
    private static final int SAMPLE_SECONDS = 5;
    private static final int END_SECONDS = 30;
    private static final int MIB_SHIFT = 20;

    @Parameters(paramLabel = "MINUTES", defaultValue = "10", description = "How long; by default 10.")
    private double minutes;

    @Option(names = "--publish", description = "Keeps the samples in bench/results, and the picture in docs.")
    private boolean publish;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Soak()).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        String machine = Machine.line();
        System.out.println(machine);
        LeaseTally handles = new LeaseTally();
        MemoryBudget budget = new MemoryBudget(Runtime.getRuntime().maxMemory());
        SoakRecord record;
        boolean over;
        long messages;
        long failures;
        try (ArenaSource source = ArenaSource.create(budget, handles);
                TrialJob trial = TrialJob.of(TLS_NODES);
                SoakLoad plain = new SoakLoad(PLAIN_NODES, source, (rank, node) -> {});
                SoakLoad tls = new SoakLoad(TLS_NODES, source, (rank, node) -> node.security(trial.security(rank)))) {
            List<SoakLoad> loads = List.of(plain, tls);
            loads.forEach(SoakLoad::begin);
            TimeUnit.SECONDS.sleep(WARMUP_SECONDS);
            record = new SoakRecord(machine, samples(loads, handles, budget));
            over = plain.end(END_SECONDS) & tls.end(END_SECONDS);
            messages = loads.stream().mapToLong(SoakLoad::completed).sum();
            failures = loads.stream().mapToLong(SoakLoad::failures).sum();
            loads.stream()
                    .flatMap(load -> load.firstFailure().stream())
                    .forEach(first -> System.out.println("soak: first failure: " + first));
        }
        boolean flat = record.isFlat();
        System.out.println(record.line() + " messages=" + messages + " failures=" + failures + " all-over=" + yes(over)
                + " handles-left=" + handles.open() + " flat=" + yes(flat));
        if (publish) {
            Path root = Path.of(System.getProperty("bulla.root", "."));
            record.write(root.resolve("bench/results/soak.json"));
            Files.writeString(root.resolve("docs/pictures/soak.svg"), record.svg());
        }
        return flat && over && failures == 0 && handles.open() == 0 ? 0 : 1;
    }

    private List<SoakSample> samples(List<SoakLoad> loads, LeaseTally handles, MemoryBudget budget) throws Exception {
        List<SoakSample> samples = new ArrayList<>();
        long start = System.nanoTime();
        long count = Math.max(3, Math.round(minutes * 60 / SAMPLE_SECONDS));
        int perMinute = 60 / SAMPLE_SECONDS;
        for (int i = 1; i <= count; i++) {
            long next = start + TimeUnit.SECONDS.toNanos((long) i * SAMPLE_SECONDS);
            TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
            long completed = loads.stream().mapToLong(SoakLoad::completed).sum();
            SoakSample sample = SoakSample.now((System.nanoTime() - start) / 1e9, completed, handles, budget);
            samples.add(sample);
            if (i % perMinute == 0) {
                System.out.println(
                        line(sample, loads.stream().mapToLong(SoakLoad::bytes).sum()));
            }
        }
        return samples;
    }

    private static String line(SoakSample sample, long bytes) {
        return String.format(
                Locale.ROOT,
                "soak: minute=%.0f messages=%d handled=%dMiB rss=%dMiB descriptors=%d threads=%d handles=%d"
                        + " source=%dMiB heap=%dMiB",
                sample.seconds() / 60,
                sample.messages(),
                bytes >> MIB_SHIFT,
                sample.residentBytes() >> MIB_SHIFT,
                sample.descriptors(),
                sample.threads(),
                sample.handles(),
                sample.sourceBytes() >> MIB_SHIFT,
                sample.heapBytes() >> MIB_SHIFT);
    }

    private static String yes(boolean is) {
        return is ? "yes" : "no";
    }
}
