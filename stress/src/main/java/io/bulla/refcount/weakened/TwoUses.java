// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.weakened;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Two holders that use, then leave by a plain compare-and-set: what the twins of `UseThenFree` have in common.
abstract class TwoUses {

    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(TwoUses.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    int usedByFirst;
    int usedBySecond;
    int sawFirst;
    int sawSecond;
    private int count = 2;

    /// How many are left.
    final int leavePlain() {
        while (true) {
            int before = (int) COUNT.getOpaque(this);
            if (COUNT.weakCompareAndSetPlain(this, before, before - 1)) {
                return before - 1;
            }
        }
    }

    final void free() {
        sawFirst = usedByFirst;
        sawSecond = usedBySecond;
    }
}
