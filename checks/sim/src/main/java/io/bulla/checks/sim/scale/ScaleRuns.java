// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import io.bulla.runtime.oob.topology.Binomial;
import io.bulla.runtime.oob.topology.Radix;
import io.bulla.runtime.oob.topology.Routing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// Broadcasts to large jobs from the command line, as `./check sim --scale` says: `ScaleRuns FOLDER --real`, or
/// `ScaleRuns FOLDER [--keep FILE] [--whole | --failing] [TREE...] [NODES...]`. The folder has the costs, and what
/// real jobs took. A row for each run: those in which no node fails, those in which one of a hundred does, or both;
/// of all trees, or of those that are named. Rows go to `FILE` in the place of the same runs' earlier ones.
public final class ScaleRuns {

    private static final int[] NODES = {1_000, 10_000};
    private static final int MESSAGE = 4 << 20;
    private static final int FRAGMENT = 512 << 10;
    private static final int[] FRAGMENTS = {64 << 10, 2 << 20};
    private static final Routing USUAL = new Radix(4);
    // beyond this, of one fragment only
    private static final int LARGE = 100_000;
    private static final double MILLI = 1e6;
    private static final int HUNDRED = 100;
    private static final int PROCESSORS = 2;
    private static final String HEAD = "nodes,tree,bytes,fragment,failing,connect_ms,most_ms,last_ms,confirmed_ms,"
            + "reached,failed,peak_bytes,heap_bytes,steps,digest";
    private static final int KEY = 5;
    private static final List<Routing> TREES = List.of(new Radix(2), new Radix(4), new Radix(16), new Binomial());

    private final Costs costs;
    private final Path kept;
    private final boolean whole;
    private final boolean failing;
    private final List<Routing> trees;
    private final Map<String, String> rows = new TreeMap<>(Comparator.comparing(ScaleRuns::order));

    private ScaleRuns(Costs costs, List<String> words) {
        this.costs = costs;
        this.kept = words.remove("--keep") ? Path.of(words.removeFirst()) : null;
        this.failing = !words.remove("--whole");
        this.whole = !words.remove("--failing");
        List<Routing> named =
                TREES.stream().filter(tree -> words.remove(name(tree))).toList();
        this.trees = named.isEmpty() ? TREES : named;
    }

    public static void main(String[] args) throws IOException {
        List<String> words = new ArrayList<>(Arrays.asList(args));
        Path folder = Path.of(words.removeFirst());
        boolean real = words.remove("--real");
        ScaleRuns runs = new ScaleRuns(Costs.read(folder.resolve("costs.properties")), words);
        int[] nodes = words.stream().mapToInt(Integer::parseInt).toArray();
        if (real) {
            runs.besideReal(folder.resolve("real.csv"));
        } else {
            System.out.println(HEAD);
            for (int each : nodes.length == 0 ? NODES : nodes) {
                runs.all(each);
            }
        }
        System.out.flush();
        // coroutines of nodes are parked for ever
        Runtime.getRuntime().halt(0);
    }

    private void all(int nodes) throws IOException {
        for (Routing tree : trees) {
            if (whole) {
                row(nodes, tree, FRAGMENT, 0);
            }
            if (failing) {
                row(nodes, tree, FRAGMENT, nodes / HUNDRED);
            }
        }
        for (int fragment : nodes < LARGE && whole && trees.contains(USUAL) ? FRAGMENTS : new int[0]) {
            row(nodes, USUAL, fragment, 0);
        }
    }

    private void row(int nodes, Routing tree, int fragment, int failing) throws IOException {
        Scale.Result result = Scale.run(new Scale.Job(nodes, tree, MESSAGE, fragment, failing, 0), costs);
        String row = String.format(
                Locale.ROOT,
                "%d,%s,%d,%d,%d,%.3f,%.3f,%.3f,%.3f,%d,%d,%d,%d,%d,%016x",
                nodes,
                name(tree),
                MESSAGE,
                fragment,
                failing,
                result.connectNanos() / MILLI,
                result.mostNanos() / MILLI,
                result.lastNanos() / MILLI,
                result.confirmedNanos() / MILLI,
                result.reached(),
                result.failed(),
                result.peakBytes(),
                result.heapBytes(),
                result.steps(),
                result.digest());
        System.out.println(row);
        System.out.flush();
        rows.remove(row);
        rows.put(row, row);
        if (kept != null) {
            keep(kept);
        }
    }

    static String name(Routing tree) {
        return tree instanceof Radix radix ? "radix-" + radix.radix() : "binomial";
    }

    /// What is the same in two rows of the same run.
    private static String order(String row) {
        String[] fields = row.split(",");
        fields[1] =
                Integer.toString(TREES.stream().map(ScaleRuns::name).toList().indexOf(fields[1]));
        StringBuilder order = new StringBuilder();
        for (int i = 0; i < KEY; i++) {
            order.append(String.format(Locale.ROOT, "%12s", fields[i])).append(',');
        }
        return order.toString();
    }

    private void keep(Path file) throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        if (Files.exists(file)) {
            Files.readAllLines(file).stream().skip(1).forEach(row -> rows.putIfAbsent(row, row));
        }
        lines.addAll(rows.values());
        Files.write(file, lines);
    }

    /// One machine with all nodes, as in the real runs: `nodes,bytes,fragment,ms`.
    private void besideReal(Path file) throws IOException {
        for (String line : Files.readAllLines(file)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] fields = line.split(",");
            int receivers = Integer.parseInt(fields[0]);
            Scale.Job job = new Scale.Job(
                    receivers + 1,
                    new Radix(4),
                    Integer.parseInt(fields[1]),
                    Integer.parseInt(fields[2]),
                    0,
                    PROCESSORS);
            double real = Double.parseDouble(fields[3]);
            double simulated = Scale.run(job, costs.onOneMachine()).confirmedNanos() / MILLI;
            System.out.printf(
                    Locale.ROOT,
                    "scale: receivers=%d bytes=%d fragment=%d real-ms=%.3f simulated-ms=%.3f ratio=%.2f%n",
                    receivers,
                    job.bytes(),
                    job.fragment(),
                    real,
                    simulated,
                    simulated / real);
        }
    }
}
