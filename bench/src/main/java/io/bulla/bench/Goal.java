package io.bulla.bench;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/// One line of the scoreboard: ours must cost at most `wanted` times what the rival costs.
///
/// @param name short, in words joined by dashes
/// @param ours what Bulla does
/// @param rival what it is held against, measured in the same round
/// @param wanted the largest ratio that meets the goal; [#NONE] to compare only
record Goal(String name, Case ours, Case rival, double wanted) {

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

    static Goal compare(String name, Case ours, Case rival) {
        return new Goal(name, ours, rival, NONE);
    }

    /// The line: medians of either side, and the median of the rounds' ratios.
    String line(double[] ourRounds, double[] rivalRounds) {
        double[] ratios = new double[ourRounds.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = ourRounds[i] / rivalRounds[i];
        }
        double ratio = Medians.of(ratios);
        return String.format(
                Locale.ROOT,
                "goal=%s ours=%s:%.4g%s rival=%s:%.4g%s ratio=%.3f wanted=%s",
                name,
                ours.name(),
                Medians.of(ourRounds),
                ours.unit(),
                rival.name(),
                Medians.of(rivalRounds),
                rival.unit(),
                ratio,
                Double.isNaN(wanted) ? "none" : "<=" + shortest(wanted) + " met=" + (ratio <= wanted ? "yes" : "no"));
    }

    /// The line of a goal of which one side could not be measured.
    String skippedLine(String reason) {
        return "goal=" + name + " skipped=\"" + reason + "\"";
    }

    private static String shortest(double number) {
        return new BigDecimal(number)
                .round(new MathContext(DIGITS))
                .stripTrailingZeros()
                .toPlainString();
    }
}
