// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Values of one type.
///
/// @param type of each
/// @param values as [DataType#javaClass] says
public record DataArray(DataType type, List<@Nullable Object> values) implements Composite {

    private static final Class<?> COPIES = Collections.nCopies(1, null).getClass();

    /// Checks the fields.
    ///
    /// @throws IllegalArgumentException if a value is of another class, or there are values of no type
    public DataArray {
        if (type == DataType.UNDEF && !values.isEmpty()) {
            throw new IllegalArgumentException("values of no type: count=" + values.size());
        }
        if (values.getClass() == COPIES) {
            // immutable, and of one value: a few bytes may announce millions of pointers, which have none of their own
            values.stream().limit(1).forEach(type::check);
        } else {
            values = Collections.unmodifiableList(new ArrayList<>(values));
            values.forEach(type::check);
        }
    }

    /// An array of the given values.
    ///
    /// @param type of each
    /// @param values as [DataType#javaClass] says
    /// @return the array
    public static DataArray of(DataType type, @Nullable Object... values) {
        return new DataArray(type, Arrays.asList(values));
    }

    /// The type and the values; of values that hold nothing, how many they are.
    @Override
    public String toString() {
        String shown = type.javaClass() == Void.class ? values.size() + " x null" : values.toString();
        return "DataArray[type=" + type + ", values=" + shown + "]";
    }
}
