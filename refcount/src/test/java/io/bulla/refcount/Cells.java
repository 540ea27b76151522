// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.lang.reflect.Field;

/// What stands in the cells of a striped count, one by one; and a fold that stopped half way.
final class Cells {

    private static final int STRIDE = 16;
    private static final long BIAS = 1L << 44;
    private static final long FOLDED = -1;

    private final long[] words;

    private Cells(Stripes stripes) {
        words = (long[]) field(Stripes.class, "cells", stripes);
    }

    static Cells of(Stripes stripes) {
        return new Cells(stripes);
    }

    static Cells of(RefCount count) {
        return new Cells((Stripes) field(RefCount.class, "stripes", count));
    }

    long at(int cell) {
        return words[(cell + 1) * STRIDE];
    }

    /// Folds one cell, and no other.
    void fold(int cell, RefCount into) {
        long held = at(cell);
        words[(cell + 1) * STRIDE] = FOLDED;
        into.unstripe(held - BIAS);
    }

    private static Object field(Class<?> type, String name, Object owner) {
        try {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(owner);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
