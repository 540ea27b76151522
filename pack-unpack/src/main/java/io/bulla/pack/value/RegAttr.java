// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.pack.text.FixedField;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An attribute that is supported. C cannot read its type back, see [DataType#DATA_TYPE].
///
/// @param name of the constant, or null
/// @param key at most 511 bytes
/// @param type a type id, without a sign
/// @param description lines, none of them null
public record RegAttr(@Nullable String name, String key, short type, List<String> description) implements Composite {

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the key is null, longer than C keeps, or no text for C
    public RegAttr {
        FixedField.checked("key", key, MAX_KEY_BYTES);
        description = List.copyOf(description);
    }
}
