// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Endpoint;
import io.bulla.pack.value.Envar;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.ProcInfo;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/// What was packed is what is unpacked, whatever the values and however the bytes are cut into regions.
class PackUnpackPropertyTest {

    private record Item(DataType type, List<Object> values) {}

    @Property(tries = 300)
    void typedUnpackIsTheInverseOfTypedPack(
            @ForAll WireFormat format,
            @ForAll int[] ints,
            @ForAll long[] longs,
            @ForAll boolean[] bools,
            @ForAll("strings") List<String> strings,
            @ForAll byte[] bytes,
            @ForAll @IntRange(min = 1, max = 17) int step) {
        BufferBuilder builder = BufferBuilder.create(Packed.SOURCE);
        Packer.into(builder, format)
                .packInt32(ints)
                .packStrings(strings.toArray(String[]::new))
                .packInts(DataType.UINT32, ints)
                .packInts(DataType.UINT, ints)
                .packInt64(longs)
                .packLongs(DataType.SIZE, longs)
                .packByteObject(bytes)
                .packBool(bools);
        try (SealedBuffer packed = builder.seal();
                SealedBuffer cut = cut(packed, step)) {
            for (SealedBuffer each : List.of(packed, cut)) {
                Unpacker unpacker = Unpacker.of(each, format);
                assertArrayEquals(ints, unpacker.unpackInt32s());
                assertArrayEquals(strings.toArray(), unpacker.unpackStrings());
                assertArrayEquals(ints, unpacker.unpackInts(DataType.UINT32));
                assertArrayEquals(ints, unpacker.unpackInts(DataType.UINT));
                assertArrayEquals(longs, unpacker.unpackInt64s());
                assertArrayEquals(longs, unpacker.unpackLongs(DataType.SIZE));
                assertEquals(IoVec.of(java.lang.foreign.MemorySegment.ofArray(bytes)), unpacker.unpackByteObject());
                assertArrayEquals(bools, unpacker.unpackBools());
                assertEquals(0, unpacker.remaining());
            }
        }
    }

    @Property(tries = 300)
    void unpackIsTheInverseOfPackForEveryType(
            @ForAll WireFormat format,
            @ForAll("items") List<Item> items,
            @ForAll @IntRange(min = 1, max = 17) int step) {
        List<Item> known = items.stream().filter(item -> fits(item, format)).toList();
        BufferBuilder builder = BufferBuilder.create(Packed.SOURCE);
        Packer packer = Packer.into(builder, format, FloatText.LOSSLESS);
        known.forEach(item -> packer.pack(item.type(), item.values().toArray()));
        try (SealedBuffer packed = builder.seal();
                SealedBuffer cut = cut(packed, step)) {
            Unpacker unpacker = Unpacker.of(cut, format);
            for (Item item : known) {
                ItemHeader header = unpacker.peek();
                assertEquals(item.values().size(), header.count());
                assertEquals(format.described() ? item.type() : null, header.type());
                Unpacker skipped = unpacker.fork();
                skipped.skip(item.type());
                assertEquals(item.values(), unpacker.unpack(item.type()));
                assertEquals(unpacker.position(), skipped.position());
            }
            assertEquals(0, unpacker.remaining());
        }
    }

    private static boolean fits(Item item, WireFormat format) {
        return format.knows(item.type()) && item.values().stream().allMatch(value -> fits(value, format));
    }

    /// A type id has one byte in OPAL, and a value may be of a type that the format has none of.
    private static boolean fits(Object value, WireFormat format) {
        return switch (value) {
            case Value one ->
                format.knows(one.type())
                        && (format.isPmix() || format.opalValueHolds(one.type()))
                        && (one.data() == null || fits(one.data(), format));
            case Kval pair -> fits(pair.value(), format);
            case Info info -> fits(info.value(), format);
            case DataArray array ->
                format.knows(array.type())
                        && array.values().stream().allMatch(each -> each == null || fits(each, format));
            case null, default -> true;
        };
    }

    @Provide
    Arbitrary<List<Item>> items() {
        return Arbitraries.of(Arrays.stream(DataType.values())
                        .filter(type -> type.javaClass() != Void.class && one(type, 2) != null)
                        .toList())
                .flatMap(type -> one(type, 2).list().ofMaxSize(4).map(values -> new Item(type, values)))
                .list()
                .ofMaxSize(5);
    }

    @Provide
    Arbitrary<List<String>> strings() {
        return text(200).injectNull(0.1).list().ofMaxSize(5);
    }

    /// One value of a type, or `null` if there is no generator for it.
    private static Arbitrary<Object> one(DataType type, int depth) {
        return switch (type) {
            case DATA_TYPE ->
                Arbitraries.shorts().between((short) 0, (short) 255).asGeneric();
            case PROC_NSPACE -> text(50).asGeneric();
            case STRING -> text(200).injectNull(0.1).asGeneric();
            case FLOAT -> Arbitraries.floats().asGeneric();
            case DOUBLE -> Arbitraries.doubles().asGeneric();
            case PROC -> proc().asGeneric();
            case NAME -> Combinators.combine(ints(), ints()).as(Name::new).asGeneric();
            case TIMEVAL ->
                Combinators.combine(Arbitraries.longs(), Arbitraries.longs())
                        .as(Timeval::new)
                        .asGeneric();
            case ENVAR ->
                Combinators.combine(text(9).injectNull(0.1), text(9), Arbitraries.bytes())
                        .as(Envar::new)
                        .asGeneric();
            case VALUE -> depth == 0 ? null : value(depth).asGeneric();
            case KVAL ->
                depth == 0
                        ? null
                        : Combinators.combine(text(100), value(depth))
                                .as(Kval::new)
                                .asGeneric();
            case INFO ->
                depth == 0
                        ? null
                        : Combinators.combine(text(100), ints(), value(depth))
                                .as(Info::new)
                                .asGeneric();
            case DATA_ARRAY -> depth == 0 ? null : array(depth).asGeneric();
            case PROC_INFO ->
                Combinators.combine(proc(), text(9).injectNull(0.3), text(9), ints(), Arbitraries.bytes())
                        .as(ProcInfo::new)
                        .asGeneric();
            case ENDPOINT ->
                Combinators.combine(text(9), text(9), object())
                        .as(Endpoint::new)
                        .asGeneric();
            default -> plain(type);
        };
    }

    private static Arbitrary<Object> plain(DataType type) {
        Class<?> box = type.javaClass();
        return box == Boolean.class
                ? Arbitraries.of(true, false).asGeneric()
                : box == Byte.class
                        ? Arbitraries.bytes().asGeneric()
                        : box == Short.class
                                ? Arbitraries.shorts().asGeneric()
                                : box == Integer.class
                                        ? ints().asGeneric()
                                        : box == Long.class
                                                ? Arbitraries.longs().asGeneric()
                                                : box == IoVec.class ? object().asGeneric() : null;
    }

    private static Arbitrary<Value> value(int depth) {
        return Arbitraries.of(List.of(
                        DataType.STRING,
                        DataType.INT32,
                        DataType.UINT,
                        DataType.SIZE,
                        DataType.PID,
                        DataType.BOOL,
                        DataType.STATUS,
                        DataType.DOUBLE,
                        DataType.TIMEVAL,
                        DataType.PROC,
                        DataType.BYTE_OBJECT,
                        DataType.DATA_ARRAY))
                .flatMap(type -> {
                    Arbitrary<Object> data = one(type, depth - 1);
                    return (data == null ? text(3).map(text -> (Object) DataArray.of(DataType.STRING, text)) : data)
                            .map(each -> new Value(type, each));
                });
    }

    private static Arbitrary<DataArray> array(int depth) {
        return Arbitraries.of(
                        DataType.INT32, DataType.PID, DataType.SIZE, DataType.STRING, DataType.VALUE, DataType.INFO)
                .flatMap(type -> {
                    Arbitrary<Object> each = one(type, depth - 1);
                    return each == null
                            ? Arbitraries.just(DataArray.of(type))
                            : each.list().ofMaxSize(4).map(values -> new DataArray(type, values));
                });
    }

    private static Arbitrary<Proc> proc() {
        return Combinators.combine(text(50), ints()).as(Proc::new);
    }

    private static Arbitrary<Integer> ints() {
        return Arbitraries.integers();
    }

    private static Arbitrary<IoVec> object() {
        return Arbitraries.bytes().array(byte[].class).map(Packed::vector);
    }

    private static Arbitrary<String> text(int maxLength) {
        return Arbitraries.strings()
                .all()
                .ofMaxLength(maxLength)
                .filter(s -> s.indexOf(0) < 0
                        && s.equals(new String(s.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)));
    }

    private static SealedBuffer cut(SealedBuffer whole, int step) {
        List<SealedBuffer> parts = new ArrayList<>();
        for (long at = 0; at < whole.byteSize(); at += step) {
            parts.add(whole.slice(at, Math.min(step, whole.byteSize() - at)));
        }
        SealedBuffer cut = SealedBuffer.concat(parts.toArray(SealedBuffer[]::new));
        parts.forEach(SealedBuffer::close);
        return cut;
    }
}
