// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

/// A promise that did not hold while something failed.
///
/// @param operation what was run
/// @param step what failed meanwhile, and on which memory
/// @param promise which promise
/// @param detail what was seen, with its values
public record Violation(String operation, String step, Promise promise, String detail) {

    @Override
    public String toString() {
        return "promise=" + promise + " operation=" + operation + " " + step + " seen=" + detail;
    }
}
