// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import java.util.List;

/// Keys asked for, and qualifiers.
///
/// @param keys none of them null
/// @param qualifiers what narrows the question
public record Query(List<String> keys, List<Info> qualifiers) implements Composite {

    /// Copies the lists.
    public Query {
        keys = List.copyOf(keys);
        qualifiers = List.copyOf(qualifiers);
    }
}
