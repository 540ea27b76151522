// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Value;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Bytes that the C libraries crash on, misread or refuse: here each is refused, with the reason.
class MalformedTest {

    /// What libpmix 4.2.2 was run on, each row in a process of its own; two of them killed it.
    @Test
    void everyRowOfPmixIsRefusedOrReadAsItShould() throws IOException {
        int rows = 0;
        for (String line : lines()) {
            String[] c = line.split("\t");
            WireFormat format = WireFormat.PMIX_4.described(c[0].equals("F"));
            DataType type = format.typeOf(Integer.parseInt(c[3]));
            String hex = c.length > 5 ? c[5] : "";
            if (type == null) {
                assertEquals("unknown_type_arg", c[1], "a type that does not exist has no name to ask by");
            } else {
                assertEquals(expected(c[1]), outcome(format, hex, unpacker -> unpacker.unpack(type)), c[1]);
            }
            rows++;
        }
        assertEquals(38, rows);
    }

    private static String expected(String id) {
        return switch (id) {
            case "empty_buffer" -> "truncated: expected=1 found=0 offset=0";
            case "count_only" -> "truncated: expected=1 found=0 offset=1";
            case "value_truncated_varint_1" -> "truncated number: expected=2 found=1 offset=1";
            case "array_short" -> "truncated: expected=3 found=2 offset=1";
            case "count_negative" -> "count out of range: expected=0..16777216 found=-1 offset=0";
            case "count_int_min" -> "[-2147483648]";
            case "int32_overlong_zero_padded" -> "number padded with zeros: expected=1 found=5 offset=1";
            case "int32_overlong_6" -> "number too long: expected=5 found=6 offset=1";
            case "int32_too_big" -> "number too wide: expected=32 found=33 offset=1";
            case "int32_9bytes" -> "number too long: expected=5 found=9 offset=1";
            case "int16_too_big" -> "number too wide: expected=16 found=18 offset=1";
            case "uint64_8bytes_trunc" -> "truncated number: expected=9 found=8 offset=1";
            case "bool_2", "bool_ff" -> "[true]";
            case "bool_short" -> "truncated: expected=4 found=2 offset=1";
            case "str_len_past_end" -> "truncated: expected=10 found=1 offset=2";
            case "str_len_int_min" -> "string length out of range: expected=0..16777216 found=-2147483648 offset=1";
            case "str_embedded_nul" -> "string holds a zero byte: expected=3 found=1 offset=1";
            case "str_len_huge" -> "string length out of range: expected=0..16777216 found=2147483647 offset=1";
            case "bo_len_2^40" -> "truncated: expected=1099511627776 found=0 offset=7";
            case "bo_len_2^63" ->
                "byte object size out of range: expected=0..9223372036854775807 found=-9223372036854775808 offset=10";
            case "value_unknown_type" -> "unknown type: expected=a type of PMIX_4 found=200 offset=1";
            case "value_type_499" -> "unknown type: expected=a type of PMIX_4 found=499 offset=1";
            case "darray_size_2^40" -> "count out of range: expected=0..16777216 found=1099511627776 offset=2";
            case "darray_short" -> "truncated: expected=3 found=2 offset=3";
            case "proc_null_nspace" -> "name space is a null string: expected=text found=null offset=1";
            case "proc_long_nspace_trunc" -> "truncated: expected=6 found=3 offset=2";
            case "float_text_garbage" -> "text is not a number: expected=number found=xy offset=1";
            case "float_null" -> "number is a null string: expected=text found=null offset=1";
            case "float_hex_text" -> "[3.0]";
            case "pid_wrong_inner_type" -> "[9]";
            case "type_mismatch_packed" -> "wrong type: expected=UINT32 found=INT32 offset=2";
            case "count_type_wrong" -> "wrong type: expected=INT32 found=UINT32 offset=0";
            case "nondesc_bytes_in_desc" -> "wrong type: expected=INT32 found=BYTE offset=0";
            case "ok" -> "[1]";
            case "uint_vs_uint32" -> "wrong type: expected=UINT32 found=UINT offset=2";
            case "byte_vs_uint8" -> "wrong type: expected=UINT8 found=BYTE offset=2";
            default -> throw new IllegalArgumentException(id);
        };
    }

    /// What the code of 2012 was run on.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "F | INT16  | 09 00000001 09 00000007 | wrong type: expected=INT16 found=INT32 offset=5",
                "N | INT32  |                      '' | truncated: expected=4 found=0 offset=0",
                "N | INT32  | 00000001 0000           | truncated: expected=4 found=2 offset=4",
                "N | STRING | 00000001 7fffffff | string length out of range: expected=0..16777216 found=2147483647 offset=4",
                "N | STRING | 00000001 fffffffe | string length out of range: expected=0..16777216 found=-2 offset=4",
                "N | STRING | 00000001 00000002 6869  | string without its terminating zero: expected=0 found=105 offset=4",
                "N | STRING | ffffffff                | count out of range: expected=0..16777216 found=-1 offset=0",
                "N | NULL   | 00000002 0001           | null is not zero: expected=0 found=1 offset=5",
                "N | INT    | 00000001 03 00000007    | wrong type: expected=INT32 found=STRING offset=4",
                "N | INT    | 00000001 63 00000007    | wrong type: expected=INT32 found=99 offset=4",
                "N | BYTE_OBJECT | 00000001 fffffffe  | byte object size out of range: expected=0..9223372036854775807 found=-2 offset=8",
                "F | JOBID  | 09 00000001 1e 09 00000001 | wrong type: expected=UINT32 found=INT32 offset=6",
                "F | STATUS | 09 00000001 20 09 09 00000001 | wrong type: expected=INT found=INT32 offset=6",
            })
    void inputThatOpalMisreadsIsRefused(char mode, DataType type, String hex, String message) {
        assertEquals(
                message, outcome(WireFormat.OPAL_DSS.described(mode == 'F'), hex, unpacker -> unpacker.unpack(type)));
    }

    /// OPAL delivers two of four values, and the buffer "can not be further unpacked".
    @Test
    void arrayThatIsTooSmallLosesNothing() {
        byte[] four = Packed.bytes(WireFormat.OPAL_DSS, packer -> packer.packInt32(1, 2, 3, 4));
        try (SealedBuffer buffer = Packed.sealed(four)) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS);
            UnpackException refused =
                    assertThrows(UnpackException.class, () -> unpacker.unpackInts(DataType.INT32, new int[2]));
            assertEquals("array too small: expected=0..2 found=4 offset=0", refused.getMessage());
            assertEquals(UnpackException.Reason.LIMIT, refused.reason());
            assertEquals(4, unpacker.unpackInts(DataType.INT32, new int[4]));
        }
    }

    /// OPAL casts: 0x1ffffffff read as an int is -1, and all seems well.
    @Test
    void valueThatDoesNotFitIsAnErrorOfItsOwn() {
        UnpackException refused = assertThrows(
                UnpackException.class,
                () -> read(WireFormat.OPAL_DSS, "00000001 0f 00000001ffffffff", Unpacker::unpack));
        assertEquals("value does not fit: expected=INT found=8589934591 offset=5", refused.getMessage());
        assertEquals(UnpackException.Reason.NARROWING, refused.reason());
        assertEquals("INT", refused.expected());
        assertEquals("8589934591", refused.found());
        assertEquals(5, refused.offset());
        assertEquals(
                "value does not fit: expected=INT found=18446744073709551615 offset=5",
                outcome(
                        WireFormat.OPAL_DSS,
                        "00000001 0f ffffffffffffffff",
                        unpacker -> unpacker.unpack(DataType.INT)));
        assertEquals(
                "value does not fit: expected=SIZE found=-1 offset=5",
                outcome(
                        WireFormat.OPAL_DSS,
                        "00000001 0a ffffffffffffffff",
                        unpacker -> unpacker.unpack(DataType.SIZE)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "INT  | 00000002 0f 0000000000000007 000000007fffffff | [7, 2147483647]",
                "INT  | 00000002 08 ffff 0007                         | [-1, 7]",
                "INT  | 00000001 0c ff                                | [255]",
                "UINT | 00000001 0e ffffffff                          | [-1]",
                "PID  | 00000002 09 00000007 ffffffff                 | [7, -1]",
                "SIZE | 00000001 0e ffffffff                          | [4294967295]",
                "BOOL | 00000002 09 00000000 00000100                 | [false, true]",
            })
    void valueOfASenderWithOtherWidthsIsRead(DataType type, String hex, String values) {
        assertEquals(values, outcome(WireFormat.OPAL_DSS, hex, unpacker -> unpacker.unpack(type)));
    }

    @Test
    void limitsHoldInsideComposites() {
        Limits limits = new Limits(10, 20, 30, 2, 12);
        assertEquals("too many values in one item: expected=0..12 found=14 offset=11", limited(limits, six(), six()));
        assertEquals("nested too deep: expected=2 found=3 offset=4", limited(limits, nested(3)));
        assertEquals(
                "string length out of range: expected=0..20 found=21 offset=2",
                limited(limits, Value.of("x".repeat(20))));
        assertEquals(
                "byte object size out of range: expected=0..30 found=31 offset=3",
                limited(limits, new Value(DataType.BYTE_OBJECT, Packed.vector(new byte[31]))));
        assertEquals(
                "count out of range: expected=0..10 found=11 offset=2",
                limited(limits, DataArray.of(DataType.INT8, (Object[])
                        "aaaaaaaaaaa".chars().mapToObj(c -> (byte) c).toArray(Byte[]::new))));
        assertNull(limited(limits, DataArray.of(DataType.INT32, 1, 2, 3)));
        assertEquals(
                "a limit is negative: maxCount=0 maxStringBytes=0 maxObjectBytes=-1 maxNesting=0 maxElements=0",
                assertThrows(IllegalArgumentException.class, () -> new Limits(0, 0, -1, 0, 0))
                        .getMessage());
    }

    /// A value in an array in a value...
    private static Value nested(int depth) {
        return depth == 1
                ? new Value(DataType.INT32, 7)
                : new Value(DataType.DATA_ARRAY, DataArray.of(DataType.VALUE, nested(depth - 1)));
    }

    private static DataArray six() {
        return DataArray.of(DataType.BOOL, true, false, true, false, true, false);
    }

    private static String limited(Limits limits, Composite value, Composite... more) {
        byte[] bytes = Packed.bytes(WireFormat.PMIX_4, packer -> packer.pack(value, more));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker.of(buffer, WireFormat.PMIX_4, limits).unpack(value.dataType());
            return null;
        } catch (UnpackException refused) {
            assertEquals(UnpackException.Reason.LIMIT, refused.reason());
            return refused.getMessage();
        }
    }

    private interface Read {
        Object by(Unpacker unpacker, DataType type);
    }

    private static Object read(WireFormat format, String hex, Read read) {
        try (SealedBuffer buffer = Packed.sealed(Packed.ofHex(hex))) {
            return read.by(Unpacker.of(buffer, format), DataType.INT);
        }
    }

    private static String outcome(WireFormat format, String hex, Function<Unpacker, Object> read) {
        byte[] bytes = Packed.ofHex(hex);
        String whole = outcome(format, read, bytes);
        for (int at = 1; at < bytes.length; at++) {
            assertEquals(whole, outcome(format, read, bytes, at), "cut at " + at);
        }
        return whole;
    }

    private static String outcome(WireFormat format, Function<Unpacker, Object> read, byte[] bytes, int... cuts) {
        try (SealedBuffer buffer = Packed.cut(bytes, cuts)) {
            Unpacker unpacker = Unpacker.of(buffer, format);
            try {
                return read.apply(unpacker).toString();
            } catch (UnpackException refused) {
                assertEquals(0, unpacker.position());
                return refused.getMessage();
            }
        }
    }

    private static List<String> lines() throws IOException {
        try (InputStream stream = MalformedTest.class.getResourceAsStream("/pmix-malformed.tsv")) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }
}
