// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.util.List;

/// Results of a [FaultRun].
///
/// @param area what was looked at, such as a module
/// @param operations how many operations were run
/// @param points foreign calls that they make when nothing fails
/// @param failed steps in which one of those calls failed
/// @param quiet operations that make no foreign call
/// @param violations promises that did not hold
public record FaultReport(
        String area, int operations, long points, long failed, List<String> quiet, List<Violation> violations) {

    /// The report in one line, which `./check faults` sums up.
    ///
    /// @return `faults: area=… operations=… points=… failed=… violations=…`
    public String line() {
        return "faults: area=" + area + " operations=" + operations + " points=" + points + " failed=" + failed
                + " violations=" + violations.size();
    }

    /// Prints the line, and each violation below it.
    ///
    /// @return this
    public FaultReport print() {
        System.out.println(line());
        violations.forEach(one -> System.out.println("  violation " + one));
        return this;
    }

    /// Fails a test if a promise did not hold.
    ///
    /// @throws AssertionError if there is a violation; it names the first ones
    public void check() {
        if (!violations.isEmpty()) {
            throw new AssertionError("promises broken: violations=" + violations.size() + " "
                    + violations.subList(0, Math.min(10, violations.size())));
        }
    }
}
