// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import java.util.List;

/// A place in a fabric.
///
/// @param view logical or physical
/// @param dimensions a number each, without a sign
public record Coord(byte view, List<Integer> dimensions) implements Composite {

    /// Copies the list.
    public Coord {
        dimensions = List.copyOf(dimensions);
    }
}
