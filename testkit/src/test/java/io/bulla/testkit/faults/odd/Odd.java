// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults.odd;

/// A class with an operation that no rule can call.
public final class Odd {

    /// A type that there is no value of.
    public interface Unknown {}

    public Odd() {}

    public void fine(int number) {}

    public void take(Unknown unknown) {}
}
