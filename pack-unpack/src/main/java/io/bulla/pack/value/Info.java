// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.pack.text.FixedField;

/// A directive, or a piece of information.
///
/// @param key at most 511 bytes
/// @param flags its directives
/// @param value its type and data
public record Info(String key, int flags, Value value) implements Composite {

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the key is null, longer than C keeps, or no text for C
    public Info {
        FixedField.checked("key", key, MAX_KEY_BYTES);
        java.util.Objects.requireNonNull(value, "value");
    }
}
