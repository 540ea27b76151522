// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.bulla.bench.numbers.Medians;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What was measured in one run, as it is kept in `bench/results`.
///
/// @param machine where, with what, of which commit
/// @param cases by name
/// @param skipped why the others have no numbers, by name
public record Results(String machine, Map<String, Measured> cases, Map<String, String> skipped) {

    private static final ObjectMapper JSON = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);

    /// Above it, what a ratio says hangs on the minute.
    private static final double MOST_SPREAD = 1.25;

    /// The numbers of one case.
    ///
    /// @param unit of each
    /// @param rounds one number for each round
    record Measured(String unit, double[] rounds) {

        public double median() {
            return Medians.of(rounds);
        }
    }

    public static Results read(Path file) throws IOException {
        return JSON.readValue(file.toFile(), Results.class);
    }

    public void write(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, JSON.writeValueAsString(this) + "\n");
    }

    /// How far rounds lie apart: of each case its longest by its shortest, of all cases the median.
    ///
    /// @return at least 1; not a number if there was one round
    public double spread() {
        double[] each = cases.values().stream()
                .map(Measured::rounds)
                .filter(rounds ->
                        rounds.length > 1 && Arrays.stream(rounds).min().orElseThrow() > 0)
                .mapToDouble(rounds -> Arrays.stream(rounds).max().orElseThrow()
                        / Arrays.stream(rounds).min().orElseThrow())
                .toArray();
        return each.length == 0 ? Double.NaN : Medians.of(each);
    }

    /// Why this run is not to be published, or `null` if it may be.
    public String unfit() {
        return spread() > MOST_SPREAD
                ? String.format(
                        Locale.ROOT,
                        "rounds lie too far apart to publish: spread=%.2f most=%.2f",
                        spread(),
                        MOST_SPREAD)
                : null;
    }

    /// The same without other cases.
    public Results only(Stream<Case> some) {
        Set<String> names = some.map(Case::name).collect(Collectors.toSet());
        Map<String, Measured> kept = new LinkedHashMap<>(cases);
        kept.keySet().retainAll(names);
        Map<String, String> without = new LinkedHashMap<>(skipped);
        without.keySet().retainAll(names);
        return new Results(machine, kept, without);
    }

    /// The numbers of a case, or `null` if there are none.
    public double[] of(Case each) {
        Measured measured = cases.get(each.name());
        return measured == null ? null : measured.rounds();
    }

    /// Not a number if there is none.
    public double median(Case each) {
        double[] rounds = of(each);
        return rounds == null ? Double.NaN : Medians.of(rounds);
    }

    /// Why there are no numbers.
    public String whySkipped(Case each) {
        return skipped.getOrDefault(each.name(), "not measured");
    }
}
