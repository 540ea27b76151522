// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import io.bulla.runtime.oob.FrameSiege;

/// One kind of input over and over, for each kind: what a hostile member or a peer without a hello can make a process
/// keep. `--short` has fewer repetitions; `--planted` has a leak that it finds, or else it can find none.
public final class Siege {

    private static final long MANY = 100_000;
    private static final long SHORT_LASTING = 20_000;
    private static final long SHORT_ENDING = 500;

    private Siege() {}

    /// Runs it; ends with 1 if something grows.
    ///
    /// @param arguments nothing, `--short` or `--planted`
    /// @throws Exception that no row had to expect
    public static void main(String[] arguments) throws Exception {
        String how = arguments.length == 0 ? "" : arguments[0];
        Slope slope = new Slope(System.out);
        switch (how) {
            case "" -> FrameSiege.run(MANY, MANY, slope);
            case "--short" -> FrameSiege.run(SHORT_LASTING, SHORT_ENDING, slope);
            case "--planted" -> FrameSiege.planted(SHORT_LASTING, slope);
            default -> throw new IllegalArgumentException("not a word of siege's: " + how);
        }
        slope.end();
        System.exit(slope.violations() == 0 ? 0 : 1);
    }
}
