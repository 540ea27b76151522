package io.bulla.bench;

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

    static Goal atMost(double wanted, String name, Case ours, Case rival) {
        return new Goal(name, ours, rival, wanted);
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
                Double.isNaN(wanted) ? "none" : "<=" + wanted + " met=" + (ratio <= wanted ? "yes" : "no"));
    }
}
