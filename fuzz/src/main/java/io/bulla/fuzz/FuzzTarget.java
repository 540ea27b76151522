// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import java.util.Arrays;

/// Something that reads untrusted bytes.
public interface FuzzTarget {

    /// Its name in the report.
    ///
    /// @return a few words
    String name();

    /// Reads the message as the input says. Whatever this throws is a finding: what the target documents it
    /// catches itself.
    ///
    /// @param input what to do
    void run(FuzzInput input);

    /// A claim that a target makes.
    ///
    /// @param holds whether it does
    /// @param what is claimed, without values
    /// @param values what to know when it does not hold
    static void claim(boolean holds, String what, Object... values) {
        if (!holds) {
            throw new AssertionError(what + ": " + Arrays.deepToString(values));
        }
    }
}
