// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants.generated;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Why no test kills a change: a table of `stress/mutants/alive`, one line for each change that lives. Its columns
/// are class, method, mutator, line and reason.
///
/// A reason that begins with `by chance:` is one of a race: such a change may be killed or not.
final class Rows {

    private static final String BY_CHANCE = "by chance:";

    private final Map<Change.Place, String> reasons = new LinkedHashMap<>();

    static Rows read(Path file) throws IOException {
        var rows = new Rows();
        if (Files.exists(file)) {
            for (String line : Files.readAllLines(file)) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    rows.add(line.split("\t", -1), file);
                }
            }
        }
        return rows;
    }

    private void add(String[] cells, Path file) {
        String line = String.join("\t", cells);
        if (cells.length != 5 || cells[4].isBlank()) {
            throw new IllegalStateException(
                    "not class, method, mutator, line and reason: file=" + file + " row=" + line);
        }
        if (reasons.put(new Change.Place(cells[0], cells[1], cells[2], cells[3]), cells[4]) != null) {
            throw new IllegalStateException("two rows for one change: file=" + file + " row=" + line);
        }
    }

    Set<Change.Place> places() {
        return reasons.keySet();
    }

    boolean isArgued(Change change) {
        return reasons.containsKey(change.place());
    }

    /// Those that live and may not: what needs a row and has none, and all others, if more of them live than the goal
    /// leaves.
    ///
    /// @param whole  these are all changes of the module: of a part more may live
    List<Change> open(Target target, List<Change> changes, boolean whole) {
        List<Change> unargued = changes.stream()
                .filter(each -> !each.outcome().isKilled() && !isArgued(each))
                .toList();
        List<Change> others =
                changes.stream().filter(each -> !target.needsRow(each.top())).toList();
        long killed = others.stream().filter(each -> each.outcome().isKilled()).count();
        boolean reached = !whole || 100L * killed >= (long) target.goal() * others.size();
        return unargued.stream()
                .filter(each -> !reached || target.needsRow(each.top()))
                .toList();
    }

    /// Rows for which there is nothing that lives.
    ///
    /// @param types  simple names of the sources that were looked at, or `null` for all
    List<String> stale(List<Change> changes, Set<String> types) {
        var stale = new ArrayList<String>();
        reasons.forEach((place, reason) -> {
            if (types != null && !types.contains(place.type().replaceFirst("\\$.*", ""))) {
                return;
            }
            List<Change> these =
                    changes.stream().filter(each -> each.place().equals(place)).toList();
            if (these.isEmpty()) {
                stale.add("no such change: " + place);
            } else if (!reason.startsWith(BY_CHANCE)
                    && these.stream().allMatch(each -> each.outcome().isKilled())) {
                stale.add("killed: " + place);
            }
        });
        return stale;
    }
}
