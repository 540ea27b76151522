// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import io.bulla.pack.text.FixedField;

/// A process of PMIx.
///
/// @param namespace its job, at most 255 bytes
/// @param rank its rank, without a sign; or [#WILDCARD] or [#UNDEFINED]
public record Proc(String namespace, int rank) implements Composite {

    /// Every rank of the name space.
    public static final int WILDCARD = -2;

    /// No rank.
    public static final int UNDEFINED = -1;

    /// The longest name space in bytes: C keeps it in 256, its terminating zero included.
    public static final int MAX_NAMESPACE_BYTES = 255;

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if the name space is null, longer than C keeps, or no text for C
    public Proc {
        FixedField.checked("name space", namespace, MAX_NAMESPACE_BYTES);
    }
}
