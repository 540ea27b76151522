// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/// Values of one type.
///
/// @param type of each
/// @param values as [DataType#javaClass] says
public record DataArray(DataType type, List<Object> values) implements Composite {

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if a value is of another class, or there are values of no type
    public DataArray {
        values = Collections.unmodifiableList(new ArrayList<>(values));
        if (type == DataType.UNDEF && !values.isEmpty()) {
            throw new IllegalArgumentException("values of no type: count=" + values.size());
        }
        values.forEach(type::check);
    }

    /// An array of the given values.
    ///
    /// @param type of each
    /// @param values as [DataType#javaClass] says
    /// @return the array
    public static DataArray of(DataType type, Object... values) {
        return new DataArray(type, Arrays.asList(values));
    }
}
