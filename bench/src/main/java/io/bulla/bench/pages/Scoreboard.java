// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.Goal;
import io.bulla.bench.goals.Results;
import io.bulla.bench.numbers.Machine;
import io.bulla.bench.numbers.Units;
import io.bulla.bench.oob.ScaleRecord;
import io.bulla.bench.oob.SoakRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Writes what is published from what lies in `bench/results`: `docs/scoreboard.md` with every goal and every
/// curve, the pictures, and the figures of the pages that have words of their own.
public final class Scoreboard {

    /// The group of the fan-outs.
    public static final String FAN_OUT = "fanout";
    /// The group of the pool.
    public static final String POOL = "pool";
    /// The curves, as a group.
    public static final String CURVES = "curves";

    private final Path root;
    private final Map<String, List<Goal>> groups;
    private final List<Curve> curves;

    /// @param root of the project
    public Scoreboard(Path root, Map<String, List<Goal>> groups, List<Curve> curves) {
        this.root = root;
        this.groups = groups;
        this.curves = curves;
    }

    public Path file(String group) {
        return root.resolve("bench/results").resolve(group + ".json");
    }

    /// Writes the pages and the pictures.
    public void write() throws IOException {
        Path pictures = Files.createDirectories(pictures());
        for (Path old : unknown(published())) {
            Files.delete(old);
        }
        for (Map.Entry<Path, String> each : published().entrySet()) {
            Files.writeString(each.getKey(), each.getValue());
        }
        System.out.println("pages: pictures=" + Files.list(pictures).count());
    }

    /// Pages and pictures that say something else than the raw numbers do.
    public List<Path> stale() throws IOException {
        Map<Path, String> published = published();
        List<Path> stale = new ArrayList<>(unknown(published));
        for (Map.Entry<Path, String> each : published.entrySet()) {
            if (!Files.exists(each.getKey()) || !Files.readString(each.getKey()).equals(each.getValue())) {
                stale.add(each.getKey());
            }
        }
        return stale.stream().map(root::relativize).sorted().toList();
    }

    /// Groups whose run began while the machine had other work, with its load.
    public List<String> overloaded() throws IOException {
        List<String> overloaded = new ArrayList<>();
        results().forEach((group, measured) -> {
            double load = Machine.load(measured.machine());
            if (load > Machine.MOST_LOAD) {
                overloaded.add(group + "=" + load);
            }
        });
        return overloaded;
    }

    /// Goals that were missed and of which `bench/floors.tsv` says no floor, and goals with a floor that were met: a
    /// line each.
    public List<String> withoutFloor() throws IOException {
        Map<String, String> floors = floors();
        Map<String, Results> results = results();
        List<String> wrong = new ArrayList<>();
        groups.forEach((group, goals) -> {
            for (Goal goal : results.containsKey(group) ? goals : List.<Goal>of()) {
                boolean missed = goal.missing(results.get(group)) == null
                        && goal.hasWish()
                        && goal.ratio(results.get(group)) > goal.wanted();
                if (missed != (floors.remove(goal.name()) != null)) {
                    wrong.add((missed ? "missed without a floor: " : "a floor of what is met: ") + goal.name());
                }
            }
        });
        floors.keySet().forEach(name -> wrong.add("a floor of no goal: " + name));
        return wrong;
    }

    /// A name and a few words a line.
    private Map<String, String> floors() throws IOException {
        Path file = root.resolve("bench/floors.tsv");
        Map<String, String> floors = new LinkedHashMap<>();
        for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
            if (!line.startsWith("#")) {
                String[] columns = line.split("\t", 2);
                floors.put(columns[0], columns[1]);
            }
        }
        return floors;
    }

    private Path scale() {
        return root.resolve("bench/results/scale.csv");
    }

    private Path pictures() {
        return root.resolve("docs/pictures");
    }

    /// Drawings that nothing draws any more. What a browser photographed is no drawing.
    private List<Path> unknown(Map<Path, String> published) throws IOException {
        try (Stream<Path> all = Files.list(pictures())) {
            return all.filter(each -> each.toString().endsWith(".svg") && !published.containsKey(each))
                    .toList();
        }
    }

    private Map<String, Results> results() throws IOException {
        Map<String, Results> results = new LinkedHashMap<>();
        for (String group : groups.keySet()) {
            if (Files.exists(file(group))) {
                results.put(group, Results.read(file(group)));
            }
        }
        if (Files.exists(file(CURVES))) {
            results.put(CURVES, Results.read(file(CURVES)));
        }
        return results;
    }

    /// The text of each file that is drawn or written.
    private Map<Path, String> published() throws IOException {
        Map<String, Results> results = results();
        List<Picture> drawn = drawn(results);
        Map<Path, String> files = new LinkedHashMap<>();
        drawn.forEach(picture -> files.put(pictures().resolve(picture.name() + ".svg"), picture.svg()));
        files.put(root.resolve("docs/scoreboard.md"), scoreboard(results));
        Map<String, String> floors = floors();
        for (Path page : pagesWithFigures()) {
            FigurePage words = new FigurePage(Files.readAllLines(page), pathTo(pictures(), page), floors);
            drawn.forEach(words::add);
            if (Files.exists(scale())) {
                words.addScale(ScaleRecord.read(scale()).table());
            }
            groups.forEach((group, goals) -> {
                if (results.containsKey(group)) {
                    words.add(group, goals, results.get(group));
                }
            });
            files.put(page, words.withFigures());
        }
        return files;
    }

    private static String pathTo(Path folder, Path page) {
        return page.getParent().relativize(folder).toString().replace('\\', '/');
    }

    private List<Path> pagesWithFigures() throws IOException {
        try (Stream<Path> details = Files.list(root.resolve("docs/performance"))) {
            return Stream.concat(
                            Stream.of(root.resolve("README.md"), root.resolve("docs/performance.md")),
                            details.filter(each -> each.toString().endsWith(".md"))
                                    .sorted())
                    .toList();
        }
    }

    private List<Picture> drawn(Map<String, Results> results) throws IOException {
        List<Picture> drawn = new ArrayList<>();
        drawn.add(new Picture(Overview.NAME, Overview.TITLE, Overview.SIGHT, new Overview(groups, results).svg()));
        if (results.containsKey(FAN_OUT)) {
            Results measured = results.get(FAN_OUT);
            FanOutMatrix.all().forEach(matrix -> drawn.add(Picture.of(matrix.bars(), measured)));
        }
        if (results.containsKey(POOL)) {
            drawn.add(Picture.of(Curves.burst(), results.get(POOL)));
        }
        if (results.containsKey(CURVES)) {
            Results measured = results.get(CURVES);
            curves.stream()
                    .filter(curve -> curve.cases().anyMatch(each -> measured.of(each) != null))
                    .forEach(curve -> drawn.add(Picture.of(curve, measured)));
        }
        if (Files.exists(file("soak"))) {
            drawn.add(new Picture(
                    "soak",
                    SoakRecord.TITLE,
                    "Every line returns to 1 after each peak: nothing grows from the first minute to the last.",
                    SoakRecord.read(file("soak")).svg()));
        }
        if (Files.exists(scale())) {
            drawn.add(new Picture(
                    "scale",
                    ScaleRecord.TITLE,
                    ScaleRecord.SIGHT,
                    ScaleRecord.read(scale()).svg()));
        }
        return drawn;
    }

    private String scoreboard(Map<String, Results> results) {
        StringBuilder page = new StringBuilder("""
                # Scoreboard

                Written by `./bench/run --redraw` from [the raw numbers](../bench/results); not to be edited. What the
                goals are, and why some are missed: [performance.md](performance.md). A ratio is the median of the ratios of
                the rounds; what Bulla does stands on the left, and less is better. In the pictures a bar says how many times
                as long a rival takes.

                """);
        page.append("Contents: ");
        groups.keySet().stream()
                .filter(results::containsKey)
                .forEach(group -> page.append("[goals: ")
                        .append(group)
                        .append("](#goals-")
                        .append(group)
                        .append("), "));
        page.append("[curves](#curves), [a model](#a-model-not-a-measurement)\n\n");
        groups.forEach((group, goals) -> {
            if (results.containsKey(group)) {
                goals(page, group, goals, results.get(group));
            }
        });
        if (results.containsKey(CURVES)) {
            Results measured = results.get(CURVES);
            page.append("## Curves\n\n`").append(measured.machine()).append("`\n\n");
            curves.forEach(curve -> curve(page, curve, measured));
            page.append(new Model(measured).page());
        }
        return page.toString().strip() + "\n";
    }

    private static void goals(StringBuilder page, String group, List<Goal> goals, Results measured) {
        page.append("## Goals: ")
                .append(group)
                .append("\n\n`")
                .append(measured.machine())
                .append("`\n\n");
        page.append("| goal | ours | rival | ratio | wanted |\n|---|---|---|---|---|\n");
        for (Goal goal : goals) {
            Case missing = goal.missing(measured);
            page.append(
                    missing != null
                            ? "| `" + goal.name() + "` | | | | skipped: " + measured.whySkipped(missing) + " |\n"
                            : String.format(
                                    Locale.ROOT,
                                    "| `%s` | %s | %s | %s | %s |%n",
                                    goal.name(),
                                    side(goal.ours(), measured),
                                    side(goal.rival(), measured),
                                    Units.rounded(goal.ratio(measured)),
                                    wish(goal, measured)));
        }
        page.append('\n');
        if (group.equals(FAN_OUT)) {
            fanOuts(page, measured);
        }
    }

    private static String side(Case side, Results measured) {
        return "`" + side.name() + "` " + Drawing.value(side, measured);
    }

    /// What was wanted, and whether it was had.
    static String wish(Goal goal, Results measured) {
        if (!goal.hasWish()) {
            return "";
        }
        return "≤ " + goal.wish() + (goal.ratio(measured) <= goal.wanted() ? ", met" : ", **missed**");
    }

    private static void fanOuts(StringBuilder page, Results measured) {
        page.append(
                "Until every peer has the message. In the tables a ratio under 1 says that ours takes less than that"
                        + " rival; a place without a unit counts bytes.\n\n");
        for (FanOutMatrix matrix : FanOutMatrix.all()) {
            page.append("### ").append(matrix.title()).append("\n\n");
            page.append(Picture.of(matrix.bars(), measured).markdown("pictures"));
            page.append("\n").append(matrix.page(measured));
        }
    }

    private static void curve(StringBuilder page, Curve curve, Results measured) {
        if (curve.cases().allMatch(each -> measured.of(each) == null)) {
            return;
        }
        page.append("### ").append(curve.title()).append("\n\n");
        page.append(Picture.of(curve, measured).markdown("pictures"));
        page.append("\n| ").append(curve.axis()).append(" | ");
        page.append(Arrays.stream(curve.places()).mapToObj(Units::place).collect(Collectors.joining(" | ")));
        page.append(" |\n|---|").append("---|".repeat(curve.places().length)).append('\n');
        for (Curve.Line line : curve.lines()) {
            page.append("| ").append(line.label()).append(" | ");
            page.append(line.cases().stream()
                    .map(each -> Drawing.value(each, measured))
                    .collect(Collectors.joining(" | ")));
            page.append(" |\n");
        }
        page.append('\n');
    }
}
