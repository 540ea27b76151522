// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ExplainTest {

    @Test
    void treeShowsOffsetsTypesAndValues() {
        WireFormat format = WireFormat.PMIX_4_DESCRIBED;
        byte[] bytes = Packed.bytes(
                format,
                packer -> packer.packInt32(1, -1, 1000)
                        .pack(new Info("my.key", 1, new Value(DataType.UINT32, 42)))
                        .packStrings("a\u001b[2J\"", null)
                        .pack(new Value(
                                DataType.DATA_ARRAY,
                                DataArray.of(DataType.PROC, new Proc("job", 3), new Proc("job", -2))))
                        .packByteObject(new byte[30]));
        assertEquals("""
                0  INT32 x3
                3    1, -1, 1000
                7  INFO x1
                10    INFO key="my.key" flags=1
                20      UINT32 42
                21  STRING x2
                24    "a\\u{1b}[2J\\"", null
                33  VALUE x1
                36    VALUE of DATA_ARRAY
                37      DATA_ARRAY of PROC x2
                39        PROC "job":3
                45        PROC "job":*
                55  BYTE_OBJECT x1
                58    30 bytes: 000000000000000000000000000000000000000000000000...
                """, described(format, true, bytes));
    }

    @Test
    void nestedBufferIsExplainedWhereItStands() {
        WireFormat format = WireFormat.OPAL_DSS_DESCRIBED;
        byte[] inner = Packed.bytes(format, packer -> packer.packInt32(7).pack(new Name(1, 2)));
        byte[] bytes = Packed.bytes(
                format,
                packer -> packer.pack(new NestedBuffer(true, Packed.vector(inner)))
                        .packBool(true));
        assertEquals(
                List.of(
                        "0  BUFFER x1",
                        "6    BUFFER described=true 26 bytes: 090000000109000000070900000001"
                                + "1d0e000000010e0000..."),
                described(format, true, bytes).lines().limit(2).toList());
        assertEquals(
                """
                15      INT32 x1
                21        7
                25      NAME x1
                32        JOBID 1
                37        VPID 2
                41  BOOL x1
                48    true
                """,
                described(format, true, bytes)
                        .lines()
                        .skip(2)
                        .map(line -> line + "\n")
                        .reduce("", String::concat));
    }

    @Test
    void malformedBytesAreShownUpToWhereTheyAreMalformed() {
        assertEquals(
                """
                0  INT32 x1
                3    1
                4  INFO x1
                7    INFO
                18  malformed: truncated: expected=4 found=2 offset=18
                """,
                described(
                        WireFormat.PMIX_4_DESCRIBED,
                        false,
                        Packed.ofHex("09020902 090218 0e6d792e6b657900 00 03 08 6162")));
        assertEquals(
                "0  malformed: wrong type: expected=INT32 found=BYTE offset=0\n",
                described(WireFormat.PMIX_4_DESCRIBED, false, Packed.ofHex("0202")));
        assertEquals(
                "0  malformed: unknown type: id=200\n",
                described(WireFormat.OPAL_DSS_DESCRIBED, false, Packed.ofHex("0900000001c800")));
    }

    @Test
    void readerWhoKnowsTheTypesIsTold() {
        byte[] bytes =
                Packed.bytes(WireFormat.PMIX_4, packer -> packer.packInt32(1).packString("x"));
        assertEquals(
                "0  INT32 x1\n1    1\n2  STRING x1\n3    \"x\"\n", typed(true, bytes, DataType.INT32, DataType.STRING));
        assertEquals(
                "0  INT32 x1\n1    1\n2  malformed: bytes behind the last item: remaining=4\n",
                typed(false, bytes, DataType.INT32));
        assertEquals(
                "bytes do not say their types: format=PMIX_4",
                assertThrows(IllegalArgumentException.class, () -> described(WireFormat.PMIX_4, true, bytes))
                        .getMessage());
    }

    @Test
    void longArraysAndTextsAreCut() {
        byte[] bytes = Packed.bytes(
                WireFormat.PMIX_4_DESCRIBED,
                packer -> packer.packInt32(new int[1000]).packString("y".repeat(100)));
        List<String> lines =
                described(WireFormat.PMIX_4_DESCRIBED, true, bytes).lines().toList();
        assertTrue(lines.get(1).endsWith(", 0, ... 984 more"), lines.get(1));
        assertTrue(lines.get(3).endsWith("yyy\"... 100 characters"), lines.get(3));
    }

    /// What stands in the bytes must not steer the terminal that it is shown on, in whatever line it is shown.
    @Test
    void textInAnErrorIsEscapedAsAnyOther() {
        byte[] bytes = Packed.bytes(WireFormat.PMIX_4_DESCRIBED, packer -> packer.packString("1\u001b[2J\n"));
        bytes[2] = (byte) WireFormat.PMIX_4_DESCRIBED.id(DataType.FLOAT);
        assertEquals("""
                0  FLOAT x1
                3  malformed: text is not a number: expected=number found=1\\u{1b}[2J\\u{a} offset=3
                """, described(WireFormat.PMIX_4_DESCRIBED, false, bytes));
    }

    /// Some six bytes a level: a message of a mebibyte would end the stack of the thread that explains it.
    @Test
    void buffersInBuffersAreExplainedDownToALimit() {
        WireFormat format = WireFormat.PMIX_4_DESCRIBED;
        byte[] bytes = {};
        for (int level = 0; level < 40; level++) {
            byte[] inner = bytes;
            bytes = Packed.bytes(format, packer -> packer.pack(new NestedBuffer(true, Packed.vector(inner))));
        }
        List<String> lines = described(format, false, bytes).lines().toList();
        assertEquals(2 * 33 + 1, lines.size());
        assertTrue(lines.getLast().matches("\\d+ +malformed: nested too deep: expected=32 found=33"), lines.getLast());
    }

    /// A few bytes of count announce a million values that have none.
    @Test
    void valuesWithoutBytesCostNothing() {
        byte[] item = Packed.ofHex("09 808080 01 00".replace(" ", ""));
        assertEquals("0  UNDEF x1048576\n6    null\n", described(WireFormat.PMIX_4_DESCRIBED, true, item));
        try (SealedBuffer buffer = Packed.sealed(item)) {
            List<Object> values =
                    Unpacker.of(buffer, WireFormat.PMIX_4_DESCRIBED).unpack(DataType.UNDEF);
            assertEquals(Collections.nCopies(1 << 20, null), values);
            assertEquals(Collections.nCopies(1, null).getClass(), values.getClass());
        }
    }

    /// Any golden vector with any bytes changed, in any format: an answer, and never another exception.
    @Test
    void anyInputIsSafe() throws IOException {
        Random random = new Random(20120829);
        List<GoldenRow> rows = GoldenRow.of("/pmix-golden.tsv");
        int understood = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = Packed.ofHex(rows.get(random.nextInt(rows.size())).hex());
            bytes = Arrays.copyOf(bytes, Math.min(bytes.length, 200) - random.nextInt(2));
            for (int changes = random.nextInt(4); changes > 0 && bytes.length > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            for (WireFormat format : WireFormat.values()) {
                if (format.described()) {
                    try (SealedBuffer buffer = Packed.sealed(bytes)) {
                        understood += Explain.described(buffer, format, new StringBuilder()) ? 1 : 0;
                    }
                }
            }
        }
        assertTrue(understood > 1000, "understood=" + understood);
        assertTrue(understood < 90_000, "understood=" + understood);
    }

    private static String described(WireFormat format, boolean understood, byte[] bytes) {
        StringBuilder out = new StringBuilder();
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            assertEquals(understood, Explain.described(buffer, format, out), out::toString);
        }
        return out.toString();
    }

    private static String typed(boolean understood, byte[] bytes, DataType... types) {
        StringBuilder out = new StringBuilder();
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            assertEquals(understood, Explain.typed(buffer, WireFormat.PMIX_4, List.of(types), out), out::toString);
        }
        assertFalse(out.isEmpty());
        return out.toString();
    }
}
