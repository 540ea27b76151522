// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.App;
import io.bulla.pack.value.Coord;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Geometry;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.Value;
import java.util.List;
import java.util.function.BiPredicate;

/// What PMIx 4.2 cannot do with values that its own format has, found in its source and seen by these comparisons.
final class Defects {

    private Defects() {}

    /// `pmix_hwloc_pack_cpuset` takes the length of the text for an error: only the empty set can be packed.
    static boolean canPack(List<Item> items) {
        return !any(
                items, (type, value) -> type == DataType.PROC_CPUSET && value != null && !((String) value).isEmpty());
    }

    /// `PMIX_DATA_ARRAY_CONSTRUCT` knows the size of some types only.
    static boolean canUnpack(WireFormat format, List<Item> items) {
        return !endsUnreadably(format, items)
                && !any(
                        items,
                        (type, value) -> value instanceof DataArray array
                                && !array.values().isEmpty()
                                && !isUnpackedInArrays(array.type()));
    }

    /// Where no numbers at all stand at the end of a buffer, module v41 says that they are past it.
    static boolean endsUnreadably(WireFormat format, List<Item> items) {
        return format.knows(DataType.COORD) && endsInNoNumbers(items.getLast());
    }

    private static boolean endsInNoNumbers(Item last) {
        Class<?> box = last.type().javaClass();
        boolean isWide = box == Short.class || box == Integer.class || box == Long.class;
        return isWide && last.values().isEmpty()
                || any(List.of(last), (type, value) -> switch (value) {
                    case Coord place -> place.dimensions().isEmpty();
                    case Geometry geometry ->
                        geometry.coordinates().stream()
                                .anyMatch(place -> place.dimensions().isEmpty());
                    case null, default -> false;
                });
    }

    private static boolean isUnpackedInArrays(DataType type) {
        return switch (type) {
            case DATA_ARRAY,
                    BUFFER,
                    DATA_BUFFER,
                    KVAL,
                    COMMAND,
                    JOB_STATE,
                    LOCTYPE,
                    DEVTYPE,
                    COMPRESSED_BYTE_OBJECT,
                    STOR_MEDIUM,
                    STOR_ACCESS,
                    STOR_PERSIST,
                    STOR_ACCESS_TYPE -> false;
            default -> true;
        };
    }

    private static boolean any(List<Item> items, BiPredicate<DataType, Object> wanted) {
        return items.stream()
                .anyMatch(item -> item.values().stream().anyMatch(value -> any(item.type(), value, wanted)));
    }

    private static boolean any(DataType type, Object value, BiPredicate<DataType, Object> wanted) {
        return wanted.test(type, value)
                || switch (value) {
                    case Value one -> any(one.type(), one.data(), wanted);
                    case Kval pair -> any(DataType.VALUE, pair.value(), wanted);
                    case Info info -> any(DataType.VALUE, info.value(), wanted);
                    case Pdata data -> any(DataType.VALUE, data.value(), wanted);
                    case DataArray array -> array.values().stream().anyMatch(each -> any(array.type(), each, wanted));
                    case Query query -> query.qualifiers().stream().anyMatch(each -> any(DataType.INFO, each, wanted));
                    case App app -> app.info().stream().anyMatch(each -> any(DataType.INFO, each, wanted));
                    case null, default -> false;
                };
    }
}
