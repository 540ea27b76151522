// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/// The order of whole numbers by default.
final class BigEndian {

    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BigEndian() {}

    static boolean is(ByteOrder order) {
        return Objects.requireNonNull(order, "order") == ByteOrder.BIG_ENDIAN;
    }
}
