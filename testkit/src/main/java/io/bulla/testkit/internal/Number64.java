// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.internal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.LongSupplier;

/// Holds an operation's numeric result, allocated beforehand: a box of its own might find no heap after the operation
/// passed.
public final class Number64 implements LongSupplier {

    private long value;

    /// The same operation, which gives this in place of a number.
    public MethodHandle returning(MethodHandle operation) {
        Class<?> type = operation.type().returnType();
        if (!type.isPrimitive() || type == void.class || type == boolean.class) {
            return operation;
        }
        boolean isReal = type == float.class || type == double.class;
        MethodHandle wide = operation.asType(operation.type().changeReturnType(isReal ? double.class : long.class));
        return MethodHandles.filterReturnValue(wide, keeper(isReal));
    }

    private MethodHandle keeper(boolean isReal) {
        try {
            MethodType type = MethodType.methodType(Number64.class, isReal ? double.class : long.class);
            return MethodHandles.lookup()
                    .findVirtual(Number64.class, "keep", type)
                    .bindTo(this);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    Number64 keep(long number) {
        value = number;
        return this;
    }

    Number64 keep(double number) {
        value = Double.doubleToRawLongBits(number);
        return this;
    }

    @Override
    public long getAsLong() {
        return value;
    }
}
