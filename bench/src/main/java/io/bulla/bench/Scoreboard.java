// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/// Writes `docs/scoreboard.md` and its pictures from what lies in `bench/results`: every goal, every curve; and
/// the figures of `docs/performance.md`.
final class Scoreboard {

    private static final int DIGITS = 3;

    private final Path results;
    private final Path docs;
    private boolean drawing;

    /// @param root of the project
    Scoreboard(Path root) {
        results = root.resolve("bench/results");
        docs = root.resolve("docs");
    }

    Path file(String group) {
        return results.resolve(group + ".json");
    }

    /// Writes the pages and the pictures.
    void write(Map<String, List<Goal>> groups, List<Curve> curves) throws IOException {
        drawing = true;
        for (Map.Entry<Path, String> page : pages(groups, curves).entrySet()) {
            Files.writeString(page.getKey(), page.getValue());
        }
    }

    /// Pages that say something else than the raw numbers do. Draws nothing.
    List<Path> stale(Map<String, List<Goal>> groups, List<Curve> curves) throws IOException {
        List<Path> stale = new ArrayList<>();
        for (Map.Entry<Path, String> page : pages(groups, curves).entrySet()) {
            if (!Files.readString(page.getKey()).equals(page.getValue())) {
                stale.add(page.getKey());
            }
        }
        return stale;
    }

    private Map<Path, String> pages(Map<String, List<Goal>> groups, List<Curve> curves) throws IOException {
        StringBuilder page = new StringBuilder("""
                # Scoreboard

                Written by `./bench/run --full --publish` from [the raw numbers](../bench/results); not to be edited. What the
                goals are, and why some are missed: [performance.md](performance.md). A ratio is the median of the ratios of
                the rounds; what we do stands on the left, and less is better.

                """);
        Path words = docs.resolve("performance.md");
        PerformancePage performance = new PerformancePage(Files.readAllLines(words));
        for (Map.Entry<String, List<Goal>> group : groups.entrySet()) {
            Path file = file(group.getKey());
            if (Files.exists(file)) {
                Results measured = Results.read(file);
                goals(page, group.getKey(), group.getValue(), measured);
                performance.add(group.getKey(), group.getValue(), measured);
                if (group.getKey().equals(Goals.FAN_OUT)) {
                    fanOuts(page, measured);
                }
            }
        }
        if (Files.exists(file("curves"))) {
            Results measured = Results.read(file("curves"));
            page.append("## Curves\n\n`").append(measured.machine()).append("`\n\n");
            for (Curve curve : curves) {
                curve(page, curve, measured);
            }
            page.append(new Model(measured).page());
        }
        return Map.of(docs.resolve("scoreboard.md"), page.toString().strip() + "\n", words, performance.withFigures());
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
                                    rounded(goal.ratio(measured)),
                                    wish(goal, measured)));
        }
        page.append('\n');
    }

    private static String side(Case side, Results measured) {
        return "`" + side.name() + "` " + rounded(measured.median(side)) + " " + side.unit();
    }

    /// What was wanted, and whether it was had.
    static String wish(Goal goal, Results measured) {
        if (!goal.hasWish()) {
            return "";
        }
        return "≤ " + goal.wish() + (goal.ratio(measured) <= goal.wanted() ? ", met" : ", **missed**");
    }

    private void fanOuts(StringBuilder page, Results measured) throws IOException {
        page.append("Until every peer has the message; a ratio under 1 says that ours takes less than that rival.\n\n");
        for (FanOutMatrix matrix : FanOutMatrix.all()) {
            page.append("### ").append(matrix.title()).append("\n\n");
            picture(page, matrix.bars(), measured);
            page.append("\n\n").append(matrix.page(measured));
        }
    }

    private void picture(StringBuilder page, Curve curve, Results measured) throws IOException {
        if (drawing) {
            Pictures.draw(curve, measured, docs.resolve("pictures"));
        }
        page.append("![")
                .append(curve.title())
                .append("](pictures/")
                .append(curve.name())
                .append(".png)");
    }

    private void curve(StringBuilder page, Curve curve, Results measured) throws IOException {
        if (curve.cases().allMatch(each -> measured.of(each) == null)) {
            return;
        }
        page.append("### ").append(curve.title()).append("\n\n");
        picture(page, curve, measured);
        page.append("\n\n| ").append(curve.axis()).append(" | ");
        page.append(Arrays.stream(curve.places()).mapToObj(Scoreboard::number).collect(Collectors.joining(" | ")));
        page.append(" |\n|---|").append("---|".repeat(curve.places().length)).append('\n');
        for (Curve.Line line : curve.lines()) {
            page.append("| ")
                    .append(line.label())
                    .append(", ")
                    .append(curve.unit())
                    .append(" | ");
            page.append(line.cases().stream()
                    .map(each -> rounded(measured.median(each)))
                    .collect(Collectors.joining(" | ")));
            page.append(" |\n");
        }
        page.append('\n');
    }

    /// A number in three digits.
    static String rounded(double number) {
        if (Double.isNaN(number)) {
            return "-";
        }
        return new BigDecimal(number)
                .round(new MathContext(DIGITS))
                .stripTrailingZeros()
                .toPlainString();
    }

    /// A place on an axis: sizes by their binary units.
    static String number(double place) {
        long whole = (long) place;
        if (whole >= 1 << 20 && whole % (1 << 20) == 0) {
            return (whole >> 20) + " Mi";
        }
        return whole >= 1 << 10 && whole % (1 << 10) == 0 ? (whole >> 10) + " Ki" : Long.toString(whole);
    }
}
