// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Value;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Bytes that the C libraries wrote, packed and unpacked, each also cut in two at every place.
class GoldenVectorTest {

    /// A vector longer than this is cut at fewer places.
    private static final int LONG = 700;

    @Test
    void everyRowOfOpalIsReproducedAndRead() throws IOException {
        assertEquals(86, reproduced("/opal-dss-golden.tsv"), "43 rows in each of the two modes");
    }

    @Test
    void everyRowOfPmixIsReproducedAndRead() throws IOException {
        assertEquals(852, reproduced("/pmix-golden.tsv"), "v21 96, v3 100, v41 115 and 115, in each of the two modes");
    }

    /// From the code of 2012, run for this.
    @Test
    void everyVectorOf2012IsReproducedAndRead() {
        of2012("00000001 01020304", "09 00000001 09 01020304", DataType.INT32, 0x01020304);
        of2012("00000001 09 00000007", "09 00000001 06 09 00000007", DataType.INT, 7);
        of2012("00000001 09 00000007", "09 00000001 0b 09 00000007", DataType.UINT, 7);
        of2012("00000001 0f 0000000000000005", "09 00000001 04 0f 0000000000000005", DataType.SIZE, 5L);
        of2012("00000001 0e 00001092", "09 00000001 05 0e 00001092", DataType.PID, 4242);
        of2012("00000001 0c 01", "09 00000001 02 0c 01", DataType.BOOL, true);
        of2012("00000001 ab", "09 00000001 01 ab", DataType.BYTE, (byte) 0xab);
        of2012("00000002 0001 ffff", "09 00000002 08 0001 ffff", DataType.INT16, (short) 1, (short) -1);
        of2012("00000001 0000000000000001", "09 00000001 0a 0000000000000001", DataType.INT64, 1L);
        of2012(
                "00000002 00000003 686900 00000000",
                "09 00000002 03 00000003 686900 00000000",
                DataType.STRING,
                "hi",
                null);
        of2012("00000001 00000001 00", "09 00000001 03 00000001 00", DataType.STRING, "");
        of2012(
                "00000001 00000003 616263",
                "09 00000001 10 00000003 616263",
                DataType.BYTE_OBJECT,
                Packed.vector(new byte[] {'a', 'b', 'c'}));
        of2012("00000001 09", "09 00000001 11 0c 09", DataType.DATA_TYPE, (short) 9);
        of2012("00000003 000000", "09 00000003 12 000000", DataType.NULL, null, null, null);
        of2012("00000000", "09 00000000 09", DataType.INT32);
        of2012(
                "00000001 00000002 6b00 06 09 00000009",
                "09 00000001 16 00000002 6b00 0c 06 06 09 00000009",
                DataType.KVAL,
                new Kval("k", new Value(DataType.INT, 9)));
    }

    private static void of2012(String plain, String described, DataType type, Object... values) {
        check(WireFormat.OPAL_DSS_2012, type, java.util.Arrays.asList(values), Packed.ofHex(plain));
        check(WireFormat.OPAL_DSS_2012_DESCRIBED, type, java.util.Arrays.asList(values), Packed.ofHex(described));
    }

    private static int reproduced(String resource) throws IOException {
        List<GoldenRow> rows = GoldenRow.of(resource);
        for (GoldenRow row : rows) {
            try {
                List<Object> values = row.values();
                assertEquals(row.count(), values.size());
                check(row.format(), row.type(), values, Packed.ofHex(row.hex()));
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError(row.toString(), failure);
            }
        }
        return rows.size();
    }

    private static void check(WireFormat format, DataType type, List<Object> values, byte[] golden) {
        packs(format, golden, packer -> packer.pack(type, values.toArray()));
        TypedCalls typed = TypedCalls.of(type, values);
        packs(format, golden, typed::pack);
        List<Object> read = values.stream().map(GoldenVectorTest::asSent).toList();
        int step = Math.max(1, golden.length / LONG);
        IntStream.iterate(0, at -> at <= golden.length, at -> at + step).forEach(at -> {
            try (SealedBuffer cut = Packed.cut(golden, at)) {
                Unpacker unpacker = Unpacker.of(cut, format);
                assertEquals(read, unpacker.unpack(type));
                assertEquals(0, unpacker.remaining());
                Unpacker again = Unpacker.of(cut, format);
                assertEquals(read, typed.unpack(again));
                assertEquals(0, again.remaining());
            }
        });
    }

    private static void packs(WireFormat format, byte[] golden, Consumer<Packer> items) {
        assertEquals(HexFormat.of().formatHex(golden), Packed.hex(format, items));
        assertArrayEquals(golden, Packed.bytes(format, items));
    }

    /// Six decimals are what arrives of a floating-point number.
    private static Object asSent(Object value) {
        if (value instanceof Double number && Double.isFinite(number)) {
            return Math.copySign(rounded(number), number);
        }
        if (value instanceof Float number && Float.isFinite(number)) {
            return Math.copySign((float) rounded(number), number);
        }
        return value;
    }

    private static double rounded(double number) {
        return new BigDecimal(number).setScale(6, RoundingMode.HALF_EVEN).doubleValue();
    }
}
