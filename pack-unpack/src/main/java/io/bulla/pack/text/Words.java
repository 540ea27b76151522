// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Eight bytes at once, the first one lowest.
public final class Words {

    /// Of memory.
    public static final ValueLayout.OfLong LAYOUT = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Words() {}

    /// Sets eight bytes of an array.
    ///
    /// @param to the array
    /// @param at of the first byte
    /// @param word the eight bytes
    public static void set(byte[] to, int at, long word) {
        // plain: the array is this thread's
        WORDS.set(to, at, word);
    }
}
