// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.numbers.Medians;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.stream.Stream;

/// One line of the scoreboard: ours must cost at most `wanted` times what the rival costs.
///
/// @param name short, in words joined by dashes
/// @param ours what Bulla does
/// @param rival what it is held against, measured in the same round
/// @param wanted the largest ratio that meets the goal; [#NONE] to compare only
public record Goal(String name, Case ours, Case rival, double wanted) {

    /// There is nothing to be met.
    static final double NONE = Double.NaN;

    private static final int DIGITS = 3;

    /// What an allocation of nothing is held against: a ratio needs a number.
    private static final Case ONE_BYTE = Case.value("one", "bytes", () -> 1);

    static Goal atMost(double wanted, String name, Case ours, Case rival) {
        return new Goal(name, ours, rival, wanted);
    }

    /// The rival takes so many times as long.
    static Goal timesFaster(double times, String name, Case ours, Case rival) {
        return new Goal(name, ours, rival, 1 / times);
    }

    /// An operation of a JMH benchmark leaves nothing on the heap.
    static Goal allocatesNothing(String name, Class<?> benchmark, String method, String... params) {
        return new Goal(name, Case.jmhAllocation(benchmark, method, params), ONE_BYTE, 0);
    }

    /// An operation of a JMH benchmark leaves at most so many bytes on the heap.
    static Goal allocatesAtMost(int bytes, String name, Class<?> benchmark, String method, String... params) {
        return new Goal(name, Case.jmhAllocation(benchmark, method, params), Case.limit(bytes, "bytes"), 1);
    }

    public static Goal compare(String name, Case ours, Case rival) {
        return new Goal(name, ours, rival, NONE);
    }

    /// The line: medians of either side, and the median of the rounds' ratios; or why there is none.
    public String line(Results results) {
        Case missing = missing(results);
        if (missing != null) {
            return "goal=" + name + " skipped=\"" + results.whySkipped(missing) + "\"";
        }
        double ratio = ratio(results);
        return String.format(
                Locale.ROOT,
                "goal=%s ours=%s:%.4g%s rival=%s:%.4g%s ratio=%.3f wanted=%s",
                name,
                ours.name(),
                results.median(ours),
                ours.unit(),
                rival.name(),
                results.median(rival),
                rival.unit(),
                ratio,
                hasWish() ? "<=" + wish() + " met=" + (ratio <= wanted ? "yes" : "no") : "none");
    }

    /// The median of the rounds' ratios.
    public double ratio(Results results) {
        double[] ourRounds = results.of(ours);
        double[] rivalRounds = results.of(rival);
        double[] ratios = new double[ourRounds.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = ourRounds[i] / rivalRounds[i];
        }
        return Medians.of(ratios);
    }

    public Stream<Case> cases() {
        return Stream.of(ours, rival);
    }

    /// A side that has no numbers, or `null`.
    public Case missing(Results results) {
        return results.of(ours) == null ? ours : results.of(rival) == null ? rival : null;
    }

    /// Whether there is something to be met.
    public boolean hasWish() {
        return !Double.isNaN(wanted);
    }

    /// What is to be met, in few digits.
    public String wish() {
        return shortest(wanted);
    }

    private static String shortest(double number) {
        return new BigDecimal(number)
                .round(new MathContext(DIGITS))
                .stripTrailingZeros()
                .toPlainString();
    }
}
