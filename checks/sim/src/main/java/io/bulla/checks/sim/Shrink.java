// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import io.bulla.checks.sim.schedule.Line;
import io.bulla.checks.sim.schedule.Schedule;
import io.bulla.checks.sim.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/// Makes a schedule that breaks a rule shorter, as long as it breaks the same rule: by leaving lines out, half of
/// them, a quarter, ... one; then by making numbers smaller.
final class Shrink {

    private static final long PATIENCE = 45 * World.SECOND;

    private final long begun = System.nanoTime();
    private final Function<Schedule, String> run;
    private final String rule;
    private final int before;
    private Schedule best;
    private int runs = 1;

    /// @param run says which rule a schedule breaks, or `null`
    /// @throws IllegalArgumentException if it breaks none
    Shrink(Schedule schedule, Function<Schedule, String> run) {
        this.best = schedule;
        this.before = schedule.lines().size();
        this.run = run;
        this.rule = run.apply(schedule);
        if (rule == null) {
            throw new IllegalArgumentException("breaks no rule: seed=" + schedule.seed());
        }
    }

    /// Of a run in the simulator.
    static String rule(Schedule schedule) {
        String violation = Runs.of(schedule).violation();
        return violation == null ? null : violation.replaceFirst(":.*", "");
    }

    Schedule shortest() {
        for (int before = -1; before != best.lines().size() && isInTime(); ) {
            before = best.lines().size();
            for (int part = Math.max(1, before / 2); part >= 1; part = part == 1 ? 0 : part / 2) {
                leaveOut(part);
            }
        }
        smaller();
        return best;
    }

    private boolean isInTime() {
        return System.nanoTime() - begun < PATIENCE;
    }

    /// How long it took, as a line: `lines=90->3 seconds=12.5 runs=64`.
    String figures() {
        return String.format(
                Locale.ROOT,
                "lines=%d->%d seconds=%.1f runs=%d",
                before,
                best.lines().size(),
                (System.nanoTime() - begun) / 1e9,
                runs);
    }

    private boolean accept(Schedule candidate) {
        if (!isInTime()) {
            return false;
        }
        runs++;
        boolean same = rule.equals(run.apply(candidate));
        best = same ? candidate : best;
        return same;
    }

    private void leaveOut(int part) {
        for (int at = 0; at < best.lines().size() && isInTime(); ) {
            List<Line> fewer = new ArrayList<>(best.lines());
            fewer.subList(at, Math.min(at + part, fewer.size())).clear();
            if (!accept(best.with(fewer))) {
                at += part;
            }
        }
    }

    private void smaller() {
        for (int i = 0; i < best.lines().size() && isInTime(); i++) {
            for (Map.Entry<String, Long> value : best.lines().get(i).values().entrySet()) {
                if (!value.getKey().equals("id")) {
                    smaller(i, value.getKey(), value.getValue());
                }
            }
        }
        while (best.number("nodes") > 2 && accept(best.with("nodes", best.number("nodes") - 1))) {
            // one node fewer
        }
    }

    private void smaller(int line, String name, long value) {
        for (long less = 0; less < value; less = less == 0 ? Math.max(1, value / 10) : less * 2) {
            List<Line> lines = new ArrayList<>(best.lines());
            lines.set(line, lines.get(line).with(name, less));
            if (accept(best.with(lines))) {
                return;
            }
        }
    }
}
