// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.MemoryLimitException;
import org.jspecify.annotations.Nullable;

/// A type of one's own in a registry, and the errors that name its codec: a codec is code of others, and what it does
/// wrong must be found.
record CodecEntry<T>(int id, Class<T> type, Codec<T> codec) {

    /// Refuses a value that a raw call brought in.
    T checked(Object value, int index) {
        if (!type.isInstance(value)) {
            throw new IllegalArgumentException("value does not fit its type: found=" + classOf(value) + at(index));
        }
        return type.cast(value);
    }

    T unpacked(@Nullable Object value, int index) {
        if (!type.isInstance(value)) {
            throw wrong("codec unpacks another class: found=" + classOf(value), index);
        }
        return type.cast(value);
    }

    IllegalStateException wrong(String what, int index) {
        return new IllegalStateException(what + at(index));
    }

    /// What the codec threw, with its name. Running out of memory stays what it is, so that a caller can wait for
    /// some; what a value or the bytes are to blame for stays of its class.
    RuntimeException failed(Throwable failure, int index) {
        return switch (failure) {
            case MemoryLimitException full -> full;
            case UnpackException bytes -> new UnpackException(bytes, at(index));
            case IllegalArgumentException value -> new IllegalArgumentException(messageOf(value) + at(index), value);
            case VirtualMachineError error when !(error instanceof StackOverflowError) -> throw error;
            default -> new IllegalStateException("codec failed: failure=" + messageOf(failure) + at(index), failure);
        };
    }

    String at(int index) {
        return " codec=" + codec.getClass().getName() + " type=" + type.getSimpleName() + " id=" + id + " value="
                + index;
    }

    /// Also if the failure is of a class that cannot tell.
    private static String messageOf(Throwable failure) {
        try {
            return failure instanceof IllegalArgumentException
                    ? String.valueOf(failure.getMessage())
                    : failure.toString();
        } catch (Throwable speechless) {
            return failure.getClass().getName();
        }
    }

    private static String classOf(@Nullable Object value) {
        return value == null ? "null" : value.getClass().getSimpleName();
    }
}
