// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Units;
import io.bulla.bench.pictures.Bars;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What `./check sim --scale` has found: simulated broadcasts to large jobs.
///
/// @param runs in the order of the file
public record ScaleRecord(List<Run> runs) {

    /// Above the picture.
    public static final String TITLE = "Simulated: 4 MiB to all nodes of a job, until the last one has it";

    /// What to see in the picture.
    public static final String SIGHT = "From 1,000 to 100,000 nodes radix 4 takes less than half as long again; radix 2"
            + " is faster still, and with 16 children each link carries the message sixteen times.";

    private static final String USUAL_TREE = "radix-4";
    private static final int USUAL_FRAGMENT = 512 << 10;
    private static final int FIELDS = 15;

    /// One of them; times in milliseconds, virtual.
    ///
    /// @param connect of the short broadcast before it, which makes the connections
    /// @param most until 99 of 100 living nodes have it
    /// @param last until the last of them has it
    /// @param confirmed until the origin knows
    /// @param peakBytes the most that a node held in its memory source
    /// @param heapBytes a node's objects
    record Run(
            int nodes,
            String tree,
            int bytes,
            int fragment,
            int failing,
            double connect,
            double most,
            double last,
            double confirmed,
            double peakBytes,
            double heapBytes) {

        private static Run of(String row) {
            String[] fields = row.split(",");
            if (fields.length != FIELDS) {
                throw new IllegalArgumentException("not a run: fields=" + fields.length + " row=" + row);
            }
            return new Run(
                    Integer.parseInt(fields[0]),
                    fields[1],
                    Integer.parseInt(fields[2]),
                    Integer.parseInt(fields[3]),
                    Integer.parseInt(fields[4]),
                    Double.parseDouble(fields[5]),
                    Double.parseDouble(fields[6]),
                    Double.parseDouble(fields[7]),
                    Double.parseDouble(fields[8]),
                    Double.parseDouble(fields[11]),
                    Double.parseDouble(fields[12]));
        }

        private boolean isUsual() {
            return failing == 0 && fragment == USUAL_FRAGMENT;
        }

        private String row() {
            return String.format(
                    Locale.ROOT,
                    "| %,d | %s | %s | %,d | %s | %s | %s | %s | %s | %s |",
                    nodes,
                    tree.replace('-', ' '),
                    Units.human(fragment, "bytes"),
                    failing,
                    Units.human(connect, "ms"),
                    Units.human(most, "ms"),
                    Units.human(last, "ms"),
                    Units.human(confirmed, "ms"),
                    Units.human(peakBytes, "bytes"),
                    Units.human(heapBytes, "bytes"));
        }
    }

    /// @throws IOException if the file is not there
    public static ScaleRecord read(Path file) throws IOException {
        return new ScaleRecord(
                Files.readAllLines(file).stream().skip(1).map(Run::of).toList());
    }

    /// A table's lines.
    public List<String> table() {
        List<String> lines = new ArrayList<>();
        lines.add(
                "| nodes | tree | fragment | that fail | to connect | 99 % have it | the last has it | the origin knows"
                        + " | message bytes in a node | a node's objects |");
        lines.add("|---|---|---|---|---|---|---|---|---|---|");
        runs.forEach(run -> lines.add(run.row()));
        return lines;
    }

    /// A picture: trees side by side, a group for each number of nodes.
    public String svg() {
        List<Bars.Group> groups = runs.stream()
                .filter(run -> run.isUsual() && run.tree().equals(USUAL_TREE))
                .map(this::group)
                .toList();
        return new Bars(TITLE, "times what radix 4, the default, takes; shorter is faster", groups).svg();
    }

    private Bars.Group group(Run usual) {
        String head = String.format(
                Locale.ROOT, "%,d nodes: radix 4 takes %s", usual.nodes(), Units.human(usual.last(), "ms"));
        List<Bars.Bar> bars = runs.stream()
                .filter(run -> run.isUsual() && run.nodes() == usual.nodes())
                .map(run -> new Bars.Bar(
                        run.tree().replace('-', ' '),
                        run.last() / usual.last(),
                        Units.human(run.last(), "ms"),
                        run.tree().equals(USUAL_TREE)))
                .toList();
        return new Bars.Group(head, bars);
    }
}
