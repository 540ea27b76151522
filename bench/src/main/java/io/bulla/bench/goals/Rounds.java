// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/// Cases measured in turn, round after round, each in a JVM of its own: what a noisy machine does to one side
/// of a ratio it is likely to do to the other.
public final class Rounds {

    private final Map<String, Case> cases = new LinkedHashMap<>();

    /// Adds cases, each once however often it is asked for.
    public Rounds add(Collection<Case> all) {
        all.forEach(each -> {
            if (cases.putIfAbsent(each.name(), each) == null) {
                each.meter().chosen();
            }
        });
        return this;
    }

    /// Measures all that were added.
    ///
    /// @param machine where
    /// @param rounds how often
    /// @param told of each round that begins
    public Results measure(String machine, int rounds, Case.Length length, Consumer<String> told) throws Exception {
        Map<String, List<Double>> measured = new LinkedHashMap<>();
        Map<String, String> skipped = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            told.accept("round " + round + " of " + rounds + ", " + (cases.size() - skipped.size()) + " cases");
            for (Case each : cases.values()) {
                if (skipped.containsKey(each.name())) {
                    continue;
                }
                try {
                    double number = each.meter().measure(length);
                    measured.computeIfAbsent(each.name(), _ -> new ArrayList<>())
                            .add(number);
                } catch (Case.Skipped why) {
                    measured.remove(each.name());
                    skipped.put(each.name(), why.getMessage());
                }
            }
        }
        Map<String, Results.Measured> numbers = new LinkedHashMap<>();
        measured.forEach((name, all) -> numbers.put(
                name,
                new Results.Measured(
                        cases.get(name).unit(),
                        all.stream().mapToDouble(Double::doubleValue).toArray())));
        return new Results(machine, numbers, skipped);
    }
}
