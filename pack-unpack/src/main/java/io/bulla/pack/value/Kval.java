// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.pack.text.FixedField;
import org.jspecify.annotations.Nullable;

/// A key and a value: a `pmix_kval_t`, or an `opal_value_t`.
///
/// @param key at most 511 bytes, or null: C packs and reads a pair without a key
/// @param value its type and data
public record Kval(@Nullable String key, Value value) implements Composite {

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the key is longer than C keeps, or no text for C
    public Kval {
        if (key != null) {
            FixedField.checked("key", key, MAX_KEY_BYTES);
        }
        java.util.Objects.requireNonNull(value, "value");
    }
}
