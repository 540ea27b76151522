// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What a packer packs, a reader of the same limits reads.
class LimitsAgreeTest {

    private static final Limits DEEPEST = new Limits(1000, 1000, 1000, Limits.MAX_NESTING, 1000);

    @Test
    void deepestNestingOfTheDefaultReaderIsThatOfTheDefaultPacker() {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, WireFormat.PMIX_4).pack(nested(32));
            long before = builder.byteSize();
            assertEquals(
                    "nested too deep, a reader would refuse it: nesting=33 maxNesting=32",
                    assertThrows(IllegalArgumentException.class, () -> packer.pack(nested(33)))
                            .getMessage());
            assertEquals(before, builder.byteSize());
            packer.pack(nested(32));
            try (SealedBuffer buffer = builder.seal()) {
                Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4);
                assertEquals(nested(32), unpacker.unpack(DataArray.class));
                assertEquals(nested(32), unpacker.unpack(DataArray.class));
            }
        }
    }

    @Test
    void nestingDeeperThanAStackCarriesIsNoLimit() {
        assertEquals(
                "nesting deeper than a stack carries: maxNesting=129 max=128",
                assertThrows(IllegalArgumentException.class, () -> new Limits(1, 1, 1, 129, 1))
                        .getMessage());
    }

    /// On a thread of half the stack that threads commonly have, and without compiled code at first.
    @Test
    void deepestNestingFitsOnASmallStack() throws InterruptedException {
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        Thread small = new Thread(null, () -> deepest(failures), "small stack", 512 << 10);
        small.start();
        small.join();
        assertEquals(List.of(), failures);
    }

    private static void deepest(List<Throwable> failures) {
        try {
            DataArray deep = nested(Limits.MAX_NESTING);
            byte[] bytes = packed(WireFormat.PMIX_4_DESCRIBED, DEEPEST, packer -> packer.pack(deep));
            try (SealedBuffer buffer = Packed.sealed(bytes)) {
                Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4_DESCRIBED, DEEPEST);
                unpacker.fork().skip();
                DataArray read = unpacker.unpack(DataArray.class);
                assertEquals(deep, read);
                assertEquals(deep.hashCode(), read.hashCode());
                assertEquals(deep.toString(), read.toString());
            }
        } catch (Throwable failure) {
            failures.add(failure);
        }
    }

    /// A NAME is one value, of which the jobs and the numbers are sent apart.
    @Test
    void nameCountsOnce() {
        Limits five = new Limits(5, 100, 100, 1, 5);
        Name[] names = Collections.nCopies(5, new Name(1, 2)).toArray(Name[]::new);
        byte[] bytes = packed(WireFormat.OPAL_DSS, five, packer -> packer.pack(DataType.NAME, (Object[]) names));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS, five);
            unpacker.fork().skip(DataType.NAME);
            assertEquals(List.of(names), unpacker.unpackAll(Name.class));
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsRefusedNamesTheLimit(WireFormat format) {
        Limits few = new Limits(3, 8, 9, 2, 4);
        refused(
                few,
                format,
                "too many values, a reader would refuse it: count=4 maxCount=3",
                p -> p.packInt32(1, 2, 3, 4));
        refused(
                few,
                format,
                "too many values, a reader would refuse it: count=4 maxCount=3",
                p -> p.packBool(new boolean[4]));
        refused(
                few,
                format,
                "too many values, a reader would refuse it: count=4 maxCount=3",
                p -> p.pack(DataType.INT, 1, 2, 3, 4));
        refused(
                few,
                format,
                "string too long, a reader would refuse it: byteSize=9 maxStringBytes=8",
                p -> p.packString("12345678"));
        refused(
                few,
                format,
                "string too long, a reader would refuse it: byteSize=9 maxStringBytes=8",
                p -> p.packStrings("1", "\u20ac\u20ac12"));
        refused(
                few,
                format,
                "byte object too large, a reader would refuse it: byteSize=10 maxObjectBytes=9",
                p -> p.packByteObject(new byte[10]));
        if (format.knows(DataType.DATA_ARRAY)) {
            refused(
                    few,
                    format,
                    "too many values in one item, a reader would refuse it: elements=5 maxElements=4",
                    p -> p.pack(DataArray.of(DataType.INT, 1, 2, 3), DataArray.of(DataType.INT)));
            refused(
                    few,
                    format,
                    "nested too deep, a reader would refuse it: nesting=3 maxNesting=2",
                    p -> p.pack(nested(3)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void valuesOfAnItemAreBoundWhateverReadsThem(WireFormat format) {
        Limits four = new Limits(10, 100, 100, 2, 4);
        byte[] numbers = Packed.bytes(format, packer -> packer.packInt32(1, 2, 3, 4, 5));
        byte[] texts = Packed.bytes(format, packer -> packer.packStrings("1", "2", "3", "4", "5"));
        tooMany(numbers, format, four, Unpacker::unpackInt32s);
        tooMany(numbers, format, four, unpacker -> unpacker.unpackInts(DataType.INT32));
        tooMany(numbers, format, four, unpacker -> unpacker.unpack(DataType.INT32));
        tooMany(numbers, format, four, unpacker -> unpacker.skip(DataType.INT32));
        tooMany(texts, format, four, Unpacker::unpackStrings);
        tooMany(texts, format, four, Unpacker::unpackRawStrings);
    }

    private static void tooMany(byte[] bytes, WireFormat format, Limits limits, Consumer<Unpacker> item) {
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, format, limits);
            UnpackException refused = assertThrows(UnpackException.class, () -> item.accept(unpacker));
            assertEquals(UnpackException.Reason.LIMIT, refused.reason());
            assertEquals(0, unpacker.position());
        }
    }

    /// Random values under random limits: what the packer packs is read, and what it refuses the reader refuses.
    @Test
    void packerAndReaderAgreeUnderAnyLimits() {
        Random random = new Random(1719);
        int packed = 0;
        for (int i = 0; i < 20_000; i++) {
            Limits limits = new Limits(
                    random.nextInt(6) + 1,
                    random.nextInt(12),
                    random.nextInt(9),
                    random.nextInt(5),
                    random.nextInt(14));
            Composite value = DataArray.of(DataType.VALUE, value(random, 4), value(random, 4));
            byte[] bytes = Packed.bytes(WireFormat.PMIX_4, packer -> packer.pack(value));
            boolean refused = false;
            try {
                packed(WireFormat.PMIX_4, limits, packer -> packer.pack(value));
                packed++;
            } catch (IllegalArgumentException limit) {
                refused = true;
            }
            try (SealedBuffer buffer = Packed.sealed(bytes)) {
                Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4, limits);
                UnpackException read =
                        refused ? assertThrows(UnpackException.class, () -> unpacker.unpack(DataArray.class)) : null;
                if (refused) {
                    assertEquals(UnpackException.Reason.LIMIT, read.reason());
                } else {
                    assertEquals(value, unpacker.unpack(DataArray.class));
                }
            }
        }
        assertTrue(packed > 1000 && packed < 15_000, "packed=" + packed);
    }

    private static Value value(Random random, int depth) {
        return switch (random.nextInt(depth == 0 ? 3 : 5)) {
            case 0 -> new Value(DataType.INT32, random.nextInt());
            case 1 -> Value.of("x".repeat(random.nextInt(9)));
            case 2 -> new Value(DataType.BYTE_OBJECT, Packed.vector(new byte[random.nextInt(8)]));
            case 3 -> new Value(DataType.DATA_ARRAY, DataArray.of(DataType.INT8, (Object[]) new Byte[] {1, 2, 3}));
            default -> new Value(DataType.DATA_ARRAY, DataArray.of(DataType.VALUE, value(random, depth - 1)));
        };
    }

    /// Arrays in arrays, so many in all.
    private static DataArray nested(int depth) {
        DataArray array = DataArray.of(DataType.INT32, 7);
        for (int level = 1; level < depth; level++) {
            array = DataArray.of(DataType.DATA_ARRAY, array);
        }
        return array;
    }

    private static void refused(Limits limits, WireFormat format, String message, Consumer<Packer> item) {
        assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> packed(format, limits, item))
                        .getMessage());
    }

    private static byte[] packed(WireFormat format, Limits limits, Consumer<Packer> items) {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            items.accept(Packer.into(builder, format, FloatText.STRICT, TextMode.STRICT, limits));
            try (SealedBuffer buffer = builder.seal()) {
                return Packed.bytes(buffer.iovec());
            }
        }
    }
}
