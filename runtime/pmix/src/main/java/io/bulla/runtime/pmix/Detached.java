// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.iovec.IoVec;
import io.bulla.pack.Compressed;
import io.bulla.pack.Limits;
import io.bulla.pack.value.App;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Endpoint;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.Value;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Values that borrow nothing: each view of a message's bytes becomes a copy, what is compressed is inflated.
final class Detached {

    private Detached() {}

    static Value value(Value value, Limits limits) {
        return switch (value.type()) {
            case COMPRESSED_STRING -> Value.of(Compressed.text(compressed(value), limits));
            case COMPRESSED_BYTE_OBJECT ->
                new Value(DataType.BYTE_OBJECT, vec(Compressed.bytes(compressed(value), limits)));
            default -> {
                @Nullable Object data = data(value.data(), limits);
                yield data == value.data() ? value : new Value(value.type(), data);
            }
        };
    }

    /// A value of such a type holds bytes, or it was not made.
    private static IoVec compressed(Value value) {
        return (IoVec) Objects.requireNonNull(value.data(), "compressed");
    }

    static IoVec vec(byte[] own) {
        return IoVec.of(MemorySegment.ofArray(own));
    }

    static byte[] bytes(IoVec vec) {
        byte[] bytes = new byte[Math.toIntExact(vec.byteSize())];
        vec.copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
        return bytes;
    }

    private static @Nullable Object data(@Nullable Object data, Limits limits) {
        return switch (data) {
            case IoVec bytes -> vec(bytes(bytes));
            case Value inner -> value(inner, limits);
            case Info info -> info(info, limits);
            case Kval pair -> new Kval(pair.key(), value(pair.value(), limits));
            case Pdata told -> new Pdata(told.proc(), told.key(), value(told.value(), limits));
            case NestedBuffer buffer -> new NestedBuffer(buffer.described(), vec(bytes(buffer.bytes())));
            case Endpoint end -> new Endpoint(end.uuid(), end.osName(), vec(bytes(end.address())));
            case Query query -> new Query(query.keys(), infos(query.qualifiers(), limits));
            case App app ->
                new App(
                        app.command(),
                        app.arguments(),
                        app.environment(),
                        app.directory(),
                        app.maxProcesses(),
                        infos(app.info(), limits));
            case DataArray array -> array(array, limits);
            case null, default -> data;
        };
    }

    private static DataArray array(DataArray array, Limits limits) {
        // numbers and names are values already, and may be many
        return array.values().stream().noneMatch(Detached::borrows)
                ? array
                : new DataArray(
                        array.type(),
                        array.values().stream()
                                .<@Nullable Object>map(one -> data(one, limits))
                                .toList());
    }

    private static boolean borrows(@Nullable Object data) {
        return data instanceof IoVec || data instanceof io.bulla.pack.value.Composite;
    }

    private static Info info(Info info, Limits limits) {
        return new Info(info.key(), info.flags(), value(info.value(), limits));
    }

    private static List<Info> infos(List<Info> infos, Limits limits) {
        return infos.stream().map(info -> info(info, limits)).toList();
    }
}
