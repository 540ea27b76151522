// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.pack.text.FixedField;

/// Published data.
///
/// @param proc who published it
/// @param key at most 511 bytes
/// @param value its type and data
public record Pdata(Proc proc, String key, Value value) implements Composite {

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the key is null, longer than C keeps, or no text for C
    public Pdata {
        FixedField.checked("key", key, MAX_KEY_BYTES);
        java.util.Objects.requireNonNull(proc, "proc");
        java.util.Objects.requireNonNull(value, "value");
    }
}
