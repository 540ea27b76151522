// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.pages;

import io.bulla.bench.goals.Case;
import io.bulla.bench.goals.Goal;
import io.bulla.bench.goals.Results;
import io.bulla.bench.numbers.Units;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Keeps the figures of a page those of the published runs. The words stay as they are:
///
/// - a row of a table that begins with a goal's name gets the goal's sides, ratio and wish;
/// - the line behind `<!-- run: GROUP -->` says where the group was measured, and how often;
/// - the lines between `<!-- fan-out -->` and `<!-- end -->` are the ratios of the fan-outs to the most peers;
/// - those between `<!-- scale -->` and `<!-- end -->` are the simulated broadcasts;
/// - those between `<!-- missed -->` and `<!-- end -->` are the goals that were missed, each with its floor;
/// - those between `<!-- picture: NAME -->` and `<!-- end -->` are the picture and what to see in it.
final class FigurePage {

    private static final Pattern ROW = Pattern.compile("(\\| (?:- )?`([a-z0-9.-]+)`[^|]*\\|).*");
    private static final Pattern RUN = Pattern.compile("<!-- run: (\\w+) -->");
    private static final String FAN_OUT = "<!-- fan-out -->";
    private static final String MISSED = "<!-- missed -->";
    private static final String SCALE = "<!-- scale -->";
    private static final String END = "<!-- end -->";

    private final List<String> page;
    private final String pictures;
    private final Map<String, String> floors;
    private final Map<String, String> rows = new HashMap<>();
    private final Map<String, String> runs = new HashMap<>();
    private final Map<String, List<String>> tables = new HashMap<>();

    /// @param page its lines, as they are
    /// @param pictures the folder of the pictures, seen from the page
    /// @param floors what a goal cannot get below, in words, by its name
    FigurePage(List<String> page, String pictures, Map<String, String> floors) {
        this.page = page;
        this.pictures = pictures;
        this.floors = floors;
        tables.put(FAN_OUT, new ArrayList<>(FanOutMatrix.ratiosHead()));
        tables.put(
                MISSED,
                new ArrayList<>(List.of(
                        "| missed | of | ratio | wanted | its floor, or what it is |", "|---|---|---|---|---|")));
    }

    /// A picture that the page may show.
    void add(Picture picture) {
        tables.put(
                "<!-- picture: " + picture.name() + " -->",
                picture.markdown(pictures).lines().toList());
    }

    /// What was simulated.
    void addScale(List<String> table) {
        tables.put(SCALE, table);
    }

    /// A group whose numbers are there.
    void add(String group, List<Goal> goals, Results measured) {
        int rounds = 0;
        for (Goal goal : goals) {
            Case missing = goal.missing(measured);
            rows.put(goal.name(), missing != null ? skipped(measured.whySkipped(missing)) : figures(goal, measured));
            if (missing == null && goal.hasWish() && goal.ratio(measured) > goal.wanted()) {
                tables.get(MISSED).add(missed(group, goal, measured));
            }
            rounds = missing != null ? rounds : Math.max(rounds, measured.of(goal.ours()).length);
        }
        runs.put(group, (rounds == 1 ? "One round" : rounds + " rounds") + ", `" + measured.machine() + "`.");
        if (group.equals(Scoreboard.FAN_OUT)) {
            FanOutMatrix.all().forEach(matrix -> matrix.ratios(measured).forEach(tables.get(FAN_OUT)::add));
        }
    }

    /// The page with the figures of what was added.
    String withFigures() {
        List<String> lines = new ArrayList<>();
        boolean replaced = false;
        String next = null;
        for (String line : page) {
            if (line.equals(END)) {
                replaced = false;
            }
            if (replaced) {
                continue;
            }
            Matcher row = ROW.matcher(line);
            Matcher run = RUN.matcher(line);
            if (next != null) {
                lines.add(next);
                next = null;
            } else if (row.matches() && rows.containsKey(row.group(2))) {
                lines.add(row.group(1) + rows.get(row.group(2)));
            } else {
                lines.add(line);
            }
            if (run.matches()) {
                next = runs.get(run.group(1));
            }
            if (tables.containsKey(line)) {
                replaced = true;
                lines.addAll(tables.get(line));
            }
        }
        if (replaced) {
            throw new IllegalStateException("a page has a table without " + END);
        }
        return String.join("\n", lines) + "\n";
    }

    private String missed(String group, Goal goal, Results measured) {
        return "| `" + goal.name() + "` | " + group + " | " + Units.rounded(goal.ratio(measured)) + " | ≤ "
                + goal.wish() + " | " + floors.getOrDefault(goal.name(), "") + " |";
    }

    private static String skipped(String why) {
        return " | | | skipped: " + why + " |";
    }

    private static String figures(Goal goal, Results measured) {
        return String.format(
                Locale.ROOT,
                " %s | %s | %s | %s |",
                Units.human(measured.median(goal.ours()), goal.ours().unit()),
                Units.human(measured.median(goal.rival()), goal.rival().unit()),
                Units.rounded(goal.ratio(measured)),
                Scoreboard.wish(goal, measured));
    }
}
