// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import org.jspecify.annotations.Nullable;

/// A type and a value of it.
///
/// @param type what it is
/// @param data as [DataType#javaClass] says; null for a null string and where there is nothing to hold
public record Value(DataType type, @Nullable Object data) implements Composite {

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the value is of another class
    public Value {
        type.check(data);
    }

    /// A string, or the null string.
    ///
    /// @param text the string
    /// @return a value of type STRING
    public static Value of(@Nullable String text) {
        return new Value(DataType.STRING, text);
    }
}
