// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Position of a device in its fabrics.
///
/// @param fabric index, without a sign
/// @param uuid of the device, or null
/// @param osName of the device, or null
/// @param coordinates one for each view
public record Geometry(
        long fabric, @Nullable String uuid, @Nullable String osName, List<Coord> coordinates) implements Composite {

    /// Copies the list.
    public Geometry {
        coordinates = List.copyOf(coordinates);
    }
}
