package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// Bytes that the C library wrote, packed and unpacked, each also cut in two at every place.
class GoldenVectorTest {

    private static final HexFormat HEX = HexFormat.of();
    private static final ArenaSource SOURCE = ArenaSource.create();

    private record Row(String mode, String id, String hex) {
        WireFormat format() {
            return mode.equals("F") ? WireFormat.OPAL_DSS_DESCRIBED : WireFormat.OPAL_DSS;
        }
    }

    @Test
    void everyRowOfTheKnownTypesIsReproducedAndRead() throws IOException {
        int exercised = 0;
        for (Row row : rows()) {
            exercised += switch (row.id()) {
                case "bool_arr" -> bools(row, true, false, true);
                case "int32_0" -> int32s(row, 0);
                case "int32_m1" -> int32s(row, -1);
                case "int32_min" -> int32s(row, Integer.MIN_VALUE);
                case "int32_max" -> int32s(row, Integer.MAX_VALUE);
                case "int32_arr" -> int32s(row, 1, -1, 1000);
                case "str_arr" -> strings(row, "hello", "", null);
                case "str_null" -> strings(row, (String) null);
                case "bo_arr" -> byteObjects(row, new byte[] {0, 1, -1}, new byte[0]);
                default -> 0;
            };
        }
        assertEquals(18, exercised, "nine rows in each of the two modes");
    }

    /// From the code of 2012, for the ids that did not change since.
    @Test
    void int64IsReproducedAndRead() {
        int64s(new Row("N", "int64", "000000010000000000000001"), 1);
        int64s(new Row("F", "int64", "09000000010a0000000000000001"), 1);
        strings(new Row("N", "hi", "000000020000000368690000000000"), "hi", null);
        int32s(new Row("F", "none", "090000000009"));
    }

    private static int int32s(Row row, int... values) {
        return check(
                row,
                packer -> packer.packInt32(values),
                unpacker -> assertArrayEquals(values, unpacker.unpackInt32s()));
    }

    private static int int64s(Row row, long... values) {
        return check(
                row,
                packer -> packer.packInt64(values),
                unpacker -> assertArrayEquals(values, unpacker.unpackInt64s()));
    }

    private static int bools(Row row, boolean... values) {
        return check(
                row, packer -> packer.packBool(values), unpacker -> assertArrayEquals(values, unpacker.unpackBools()));
    }

    private static int strings(Row row, String... values) {
        return check(
                row,
                packer -> packer.packString(values),
                unpacker -> assertArrayEquals(values, unpacker.unpackStrings()));
    }

    private static int byteObjects(Row row, byte[]... values) {
        return check(row, packer -> packer.packByteObject(values), unpacker -> {
            IoVec[] read = unpacker.unpackByteObjects();
            assertEquals(values.length, read.length);
            for (int i = 0; i < values.length; i++) {
                assertEquals(-1, read[i].mismatch(IoVec.of(MemorySegment.ofArray(values[i]))));
            }
        });
    }

    private static int check(Row row, Consumer<Packer> pack, Consumer<Unpacker> unpack) {
        byte[] golden = HEX.parseHex(row.hex());
        BufferBuilder builder = BufferBuilder.create(SOURCE);
        pack.accept(Packer.into(builder, row.format()));
        try (SealedBuffer packed = builder.seal()) {
            byte[] bytes = new byte[(int) packed.byteSize()];
            packed.iovec().copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
            assertEquals(row.hex(), HEX.formatHex(bytes), row::toString);
        }
        for (int cut = 0; cut <= golden.length; cut++) {
            try (SealedBuffer head = sealed(Arrays.copyOfRange(golden, 0, cut));
                    SealedBuffer tail = sealed(Arrays.copyOfRange(golden, cut, golden.length));
                    SealedBuffer whole = SealedBuffer.concat(head, tail)) {
                Unpacker unpacker = Unpacker.of(whole, row.format());
                unpack.accept(unpacker);
                assertEquals(0, unpacker.remaining(), row::toString);
            }
        }
        return 1;
    }

    private static SealedBuffer sealed(byte[] bytes) {
        return BufferBuilder.create(SOURCE).put(bytes).seal();
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        try (var stream = GoldenVectorTest.class.getResourceAsStream("/opal-dss-golden.tsv");
                BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] columns = line.split("\t");
                rows.add(new Row(columns[2], columns[3], columns[8]));
            }
        }
        return rows;
    }
}
