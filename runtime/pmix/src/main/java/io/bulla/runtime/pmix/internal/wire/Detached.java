// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.wire;

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
///
/// What is compressed in all values together that one of these is asked for inflates to no more than four of the
/// longest strings: a few bytes on the wire can be thousands of times as many.
public final class Detached {

    private static final int MOST_STRINGS = 4;

    private final Limits limits;
    private long left;

    public Detached(Limits limits) {
        this.limits = limits;
        this.left = (long) MOST_STRINGS * limits.maxStringBytes();
    }

    /// @throws io.bulla.pack.UnpackException if what is compressed is malformed, or inflates to too much
    public static Value value(Value value, Limits limits) {
        return new Detached(limits).value(value);
    }

    /// @throws io.bulla.pack.UnpackException if what is compressed is malformed, or inflates to too much
    public Value value(Value value) {
        return switch (value.type()) {
            case COMPRESSED_STRING -> {
                String text = Compressed.text(compressed(value), now());
                left -= text.length();
                yield Value.of(text);
            }
            case COMPRESSED_BYTE_OBJECT -> {
                byte[] bytes = Compressed.bytes(compressed(value), now());
                left -= bytes.length;
                yield new Value(DataType.BYTE_OBJECT, vec(bytes));
            }
            default -> {
                @Nullable Object data = data(value.data());
                yield data == value.data() ? value : new Value(value.type(), data);
            }
        };
    }

    /// A value of such a type holds bytes, or it was not made.
    private static IoVec compressed(Value value) {
        return (IoVec) Objects.requireNonNull(value.data(), "compressed");
    }

    /// The limits, with what is left of the budget.
    private Limits now() {
        int most = (int) Math.min(limits.maxStringBytes(), left);
        return new Limits(
                limits.maxCount(),
                most,
                Math.min(limits.maxObjectBytes(), left),
                limits.maxNesting(),
                limits.maxElements());
    }

    public static IoVec vec(byte[] own) {
        return IoVec.of(MemorySegment.ofArray(own));
    }

    public static byte[] bytes(IoVec vec) {
        byte[] bytes = new byte[Math.toIntExact(vec.byteSize())];
        vec.copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
        return bytes;
    }

    private @Nullable Object data(@Nullable Object data) {
        return switch (data) {
            case IoVec bytes -> vec(bytes(bytes));
            case Value inner -> value(inner);
            case Info info -> info(info);
            case Kval pair -> new Kval(pair.key(), value(pair.value()));
            case Pdata told -> new Pdata(told.proc(), told.key(), value(told.value()));
            case NestedBuffer buffer -> new NestedBuffer(buffer.described(), vec(bytes(buffer.bytes())));
            case Endpoint end -> new Endpoint(end.uuid(), end.osName(), vec(bytes(end.address())));
            case Query query ->
                query.qualifiers().isEmpty() ? query : new Query(query.keys(), infos(query.qualifiers()));
            case App app ->
                new App(
                        app.command(),
                        app.arguments(),
                        app.environment(),
                        app.directory(),
                        app.maxProcesses(),
                        infos(app.info()));
            case DataArray array -> array(array);
            case null, default -> data;
        };
    }

    private DataArray array(DataArray array) {
        // numbers and names are values already, and may be many
        return array.values().stream().noneMatch(Detached::borrows)
                ? array
                : new DataArray(
                        array.type(),
                        array.values().stream()
                                .<@Nullable Object>map(one -> data(one))
                                .toList());
    }

    private static boolean borrows(@Nullable Object data) {
        return data instanceof IoVec || data instanceof io.bulla.pack.value.Composite;
    }

    private Info info(Info info) {
        return new Info(info.key(), info.flags(), value(info.value()));
    }

    private List<Info> infos(List<Info> infos) {
        return infos.isEmpty() ? infos : infos.stream().map(info -> info(info)).toList();
    }
}
