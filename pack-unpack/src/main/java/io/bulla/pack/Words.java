// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Eight bytes of an array at once, the first one lowest.
final class Words {

    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Words() {}

    static void set(byte[] to, int at, long word) {
        // plain: the array is this thread's
        WORDS.set(to, at, word);
    }
}
