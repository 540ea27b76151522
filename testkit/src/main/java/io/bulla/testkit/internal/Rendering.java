// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.internal;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Describes a result in words that are the same for the same content.
public final class Rendering {

    private Rendering() {}

    public static String of(@Nullable Object result) {
        return switch (result) {
            case null -> "null";
            case SealedBuffer buffer -> "buffer " + of(buffer.iovec());
            case IoVec bytes -> of(bytes);
            case MemorySegment segment -> "segment of " + segment.byteSize();
            case Object[] several ->
                Arrays.stream(several).map(Rendering::of).collect(Collectors.joining(", ", "[", "]"));
            case List<?> several -> several.stream().map(Rendering::of).collect(Collectors.joining(", ", "[", "]"));
            case Collection<?> several ->
                several.stream().map(Rendering::of).sorted().collect(Collectors.joining(", ", "{", "}"));
            case Map<?, ?> pairs ->
                pairs.entrySet().stream()
                        .map(pair -> of(pair.getKey()) + "=" + of(pair.getValue()))
                        .sorted()
                        .collect(Collectors.joining(", ", "{", "}"));
            case ByteBuffer bytes -> "bytes " + bytes.duplicate().hashCode() + " of " + bytes.remaining();
            case Optional<?> maybe -> maybe.map(Rendering::of).orElse("nothing");
            case byte[] bytes -> Arrays.toString(bytes);
            case short[] shorts -> Arrays.toString(shorts);
            case int[] ints -> Arrays.toString(ints);
            case long[] longs -> Arrays.toString(longs);
            case float[] floats -> Arrays.toString(floats);
            case double[] doubles -> Arrays.toString(doubles);
            case boolean[] booleans -> Arrays.toString(booleans);
            case LongSupplier number -> Long.toString(number.getAsLong());
            case Number number -> number.toString();
            case Boolean truth -> truth.toString();
            case Character character -> character.toString();
            case String text -> text;
            case Enum<?> constant -> constant.name();
            case Record record -> record.toString();
            default -> result.getClass().getName();
        };
    }

    private static String of(IoVec bytes) {
        StringBuilder text = new StringBuilder("bytes ");
        for (int i = 0; i < bytes.regionCount(); i++) {
            text.append(Arrays.hashCode(bytes.region(i).toArray(ValueLayout.JAVA_BYTE)))
                    .append(' ');
        }
        return text.toString();
    }
}
