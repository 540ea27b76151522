// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.App;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What the C libraries do in their own way, kept; and what would crash or mislead them, refused.
class QuirksTest {

    @Test
    void uintTravelsSignedAndIsNotUint32() {
        assertEquals("0201", Packed.hex(WireFormat.PMIX_4, packer -> packer.packInts(DataType.UINT, -1)));
        assertEquals("02ffffffff0f", Packed.hex(WireFormat.PMIX_4, packer -> packer.packInts(DataType.UINT32, -1)));
        assertEquals(
                "09000000010b09ffffffff",
                Packed.hex(WireFormat.OPAL_DSS_DESCRIBED, packer -> packer.packInts(DataType.UINT, -1)));
        assertEquals(
                "09000000010effffffff",
                Packed.hex(WireFormat.OPAL_DSS_DESCRIBED, packer -> packer.packInts(DataType.UINT32, -1)));
    }

    @ParameterizedTest
    @EnumSource
    void nullIsNotTheEmptyString(WireFormat format) {
        byte[] bytes =
                Packed.bytes(format, packer -> packer.packStrings(null, "").packString(null));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, format);
            assertArrayEquals(new String[] {null, ""}, unpacker.unpackStrings());
            assertNull(unpacker.unpackString());
        }
    }

    @Test
    void strictFloatsAreSixDecimalsAndLossy() {
        assertEquals(
                "04" + text("0.000000") + text("340282346638528859811704183484516925440.000000"),
                Packed.hex(WireFormat.PMIX_4, packer -> packer.packFloat(1e-7f, Float.MAX_VALUE)));
        assertEquals(
                "08" + text("nan") + text("-inf") + text("-0.000000") + text("0.000000"),
                Packed.hex(
                        WireFormat.PMIX_4,
                        packer -> packer.packDouble(Double.NaN, Double.NEGATIVE_INFINITY, -0.0, 5e-324)));
    }

    /// The sign bit is what `0.0 / 0.0` gives on x86.
    @Test
    void nanKeepsItsSign() {
        float single = Float.intBitsToFloat(0xffc0_0000);
        double wide = Double.longBitsToDouble(0xfff8_0000_0000_0000L);
        assertEquals("02" + text("-nan"), Packed.hex(WireFormat.PMIX_4, packer -> packer.packFloat(single)));
        assertEquals(
                "04" + text("-nan") + text("nan"),
                Packed.hex(WireFormat.PMIX_4, packer -> packer.packDouble(wide, Double.NaN)));
        assertEquals(Double.NaN, FloatText.parseDouble("-nan", 0));
    }

    @Test
    void losslessFloatsAreTheShortestTextThatReadsBack() {
        assertEquals(
                "06" + text("1.0E-7") + text("-0.0") + text("inf"),
                HexFormat.of()
                        .formatHex(Packed.bytes(
                                WireFormat.PMIX_4,
                                FloatText.LOSSLESS,
                                packer -> packer.packDouble(1e-7, -0.0, Double.POSITIVE_INFINITY))));
    }

    @Property(tries = 500)
    void losslessFloatsAreReadBackExactly(@ForAll WireFormat format, @ForAll double[] doubles, @ForAll float[] floats) {
        Assume.that(format.knows(DataType.FLOAT));
        byte[] bytes = Packed.bytes(
                format, FloatText.LOSSLESS, packer -> packer.packDouble(doubles).packFloat(floats));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, format);
            assertArrayEquals(doubles, unpacker.unpackDoubles());
            assertArrayEquals(floats, unpacker.unpackFloats());
        }
    }

    @Property(tries = 1000)
    void strictFloatsAreWhatPrintfWrites(@ForAll double value) {
        String java = String.format(Locale.ROOT, "%.6f", value)
                .replace("Infinity", "inf")
                .replace("NaN", "nan");
        String ours = FloatText.STRICT.of(value);
        // Java's rounds half up, from the shortest decimal: alike but for the last place
        assertEquals(Double.parseDouble(fit(java)), Double.parseDouble(fit(ours)), 1.1e-6 + Math.abs(value) * 1e-15);
        assertEquals(Math.copySign(1, value) < 0 && !Double.isNaN(value), ours.startsWith("-"));
    }

    @Test
    void numbersOfAPeerInACommaLocaleAreRead() {
        assertEquals(-0.886982, FloatText.parseDouble("-0,886982", 0));
        assertEquals(1.5f, FloatText.parseFloat("0x1.8", 0));
        assertEquals(Double.NEGATIVE_INFINITY, FloatText.parseDouble("-Infinity", 0));
        for (String none : List.of("", " 1", "1 ", "1f", "1d", "1.2.3", "0x", "e5", "NaN7", "infinit")) {
            assertEquals(
                    "text is not a number: expected=number found=" + none + " offset=3",
                    assertThrows(UnpackException.class, () -> FloatText.parseDouble(none, 3))
                            .getMessage());
        }
    }

    /// C writes it as an unsigned and reads it as a signed number: 14 comes back as 7.
    @Test
    void dataTypeIsReadAsItWasWritten() {
        byte[] bytes = Packed.bytes(WireFormat.PMIX_4, packer -> packer.packShorts(DataType.DATA_TYPE, (short) 14));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            assertEquals(14, Unpacker.of(buffer, WireFormat.PMIX_4).unpackShort(DataType.DATA_TYPE));
        }
        refused(
                WireFormat.OPAL_DSS,
                "type id does not fit into a byte: id=256",
                packer -> packer.packShorts(DataType.DATA_TYPE, (short) 256));
    }

    /// A size carries its own tag, so a peer may send one of fewer bytes than a `size_t` here has.
    @ParameterizedTest
    @EnumSource(names = {"PMIX_3", "PMIX_4_NATIVE"})
    void sizesOfANarrowerPeerAreRead(WireFormat format) {
        try (SealedBuffer buffer = Packed.sealed(Packed.ofHex("00000001 0007 00"))) {
            assertEquals(List.of(Packed.vector()), Unpacker.of(buffer, format).unpack(DataType.BYTE_OBJECT));
        }
    }

    @Test
    void pointersTravelAsOneMark() {
        assertEquals("0601", Packed.hex(WireFormat.PMIX_4, packer -> packer.pack(DataType.POINTER, null, null, null)));
    }

    @ParameterizedTest
    @EnumSource(names = {"VALUE", "INFO", "PDATA", "APP", "KVAL", "BUFFER", "DATA_BUFFER"})
    void valueThatCrashesCIsRefused(DataType type) {
        Info info = new Info("k", 0, Value.of("v"));
        Object data = switch (type) {
            case VALUE -> info.value();
            case INFO -> info;
            case PDATA -> new Pdata(new Proc("n", 0), "k", info.value());
            case APP -> new App("a", List.of(), List.of(), null, 1, List.of());
            case KVAL -> new Kval("k", info.value());
            case BUFFER -> new NestedBuffer(false, Packed.vector());
            default -> Packed.vector();
        };
        Value value = new Value(type, data);
        String message = "a C reader would overwrite memory: value of type=" + type;
        refused(WireFormat.PMIX_4, message, packer -> packer.pack(value));
        refused(WireFormat.PMIX_3, message, packer -> packer.pack(value));
        refused(WireFormat.PMIX_4, message, packer -> packer.pack(new Info("k", 0, value)));
        refused(WireFormat.PMIX_4, message, packer -> packer.pack(DataArray.of(DataType.VALUE, value)));
    }

    /// `opal_dss_pack_value` answers `UNSUPPORTED TYPE`.
    @Test
    void opalValueThatCDoesNotKnowIsRefused() {
        refusedAsOpalValue(WireFormat.OPAL_DSS, DataType.TIME, 1L);
        refusedAsOpalValue(WireFormat.OPAL_DSS, DataType.JOBID, 1);
        refusedAsOpalValue(WireFormat.OPAL_DSS, DataType.KVAL, new Kval("k", new Value(DataType.INT, 1)));
        refusedAsOpalValue(WireFormat.OPAL_DSS_2012, DataType.BOOL, true);
        refusedAsOpalValue(WireFormat.OPAL_DSS_2012, DataType.SIZE, 1L);
    }

    private static void refusedAsOpalValue(WireFormat format, DataType type, Object data) {
        refused(
                format,
                "C has no value of the type: type=" + type + " format=" + format,
                packer -> packer.pack(new Kval("k", new Value(type, data))));
    }

    @Test
    void textThatCWouldCutIsRefused() {
        refused(WireFormat.PMIX_4, "string holds U+0000: index=1 length=3", p -> p.packStrings("fine", "a\0b"));
        refused(
                WireFormat.PMIX_4,
                "string holds half a surrogate pair: index=1 length=2",
                p -> p.packString("a\ud800"));
        refused(
                WireFormat.PMIX_4,
                "string holds half a surrogate pair: index=0 length=2",
                p -> p.packString("\udc00\ud800"));
        assertEquals(
                "name space too long, C would cut it: byteSize=256 max=255",
                assertThrows(IllegalArgumentException.class, () -> new Proc("\u00e9".repeat(128), 0))
                        .getMessage());
        assertEquals(
                "key too long, C would cut it: byteSize=512 max=511",
                assertThrows(IllegalArgumentException.class, () -> new Info("k".repeat(512), 0, Value.of("")))
                        .getMessage());
        assertEquals(
                "key is null",
                assertThrows(IllegalArgumentException.class, () -> new Info(null, 0, Value.of("")))
                        .getMessage());
        refused(
                WireFormat.PMIX_4,
                "name space too long, C would cut it: byteSize=256 max=255",
                p -> p.pack(DataType.PROC_NSPACE, "n".repeat(256)));
        assertEquals(255, new Proc("n".repeat(255), 0).namespace().length());
    }

    @Test
    void textOfEveryLengthOfUtf8IsWrittenAsUtf8() {
        for (String text : List.of(
                "",
                "1234567",
                "12345678",
                "x".repeat(23),
                "h\u00e9llo 12",
                "\u20ac",
                "\ud83d\ude00!",
                "\u07ff\u0800\uffff")) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            String expected = "02" + HexFormat.of().formatHex(new byte[] {(byte) (2 * (utf8.length + 1))})
                    + HexFormat.of().formatHex(utf8) + "00";
            assertEquals(expected, Packed.hex(WireFormat.PMIX_4, packer -> packer.packString(text)));
        }
    }

    @Test
    void typeThatTheFormatDoesNotKnowIsRefused() {
        refused(
                WireFormat.OPAL_DSS_2012,
                "type is unknown to the format: type=FLOAT format=OPAL_DSS_2012",
                packer -> packer.packFloat(1));
        refused(
                WireFormat.PMIX_3,
                "type is unknown to the format: type=DATA_BUFFER format=PMIX_3",
                packer -> packer.pack(DataType.DATA_BUFFER, Packed.vector()));
        refused(
                WireFormat.PMIX_4,
                "type is unknown to the format: type=NAME format=PMIX_4",
                packer -> packer.pack(new Name(1, 2)));
        refused(
                WireFormat.PMIX_4,
                "type does not hold such values: type=STRING expected=String found=Integer",
                packer -> packer.packInts(DataType.STRING, 1));
        refused(
                WireFormat.PMIX_4,
                "value does not fit its type: type=INT32 expected=Integer found=Long",
                packer -> packer.pack(DataType.INT32, 1, 2L));
        refused(
                WireFormat.OPAL_DSS,
                "OPAL does not say how a nested buffer is packed: described=true format=OPAL_DSS",
                packer -> packer.pack(new NestedBuffer(true, Packed.vector())));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OPAL_DSS_2012", "OPAL_DSS_2012_DESCRIBED"})
    void nestedBufferIsReadInPlace(WireFormat format) {
        byte[] inner = Packed.bytes(format, packer -> packer.packInt32(1, 2).packString("in"));
        try (SealedBuffer items = Packed.sealed(inner)) {
            byte[] outer =
                    Packed.bytes(format, packer -> packer.packBuffer(items).packInt32(3));
            try (SealedBuffer buffer = Packed.sealed(outer)) {
                Unpacker unpacker = Unpacker.of(buffer, format);
                Unpacker nested = unpacker.unpackBuffer();
                assertArrayEquals(new int[] {1, 2}, nested.unpackInt32s());
                assertEquals("in", nested.unpackString());
                assertEquals(0, nested.remaining());
                assertThrows(UnpackException.class, nested::unpackInt32, "it ends where the buffer in it does");
                assertEquals(3, unpacker.unpackInt32());
            }
        }
    }

    private static void refused(WireFormat format, String message, Consumer<Packer> item) {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, format).packInt32(1);
            long before = builder.byteSize();
            assertEquals(
                    message,
                    assertThrows(IllegalArgumentException.class, () -> item.accept(packer))
                            .getMessage());
            assertEquals(before, builder.byteSize());
        }
    }

    private static String fit(String number) {
        return number.replace("inf", "Infinity").replace("nan", "NaN");
    }

    private static String text(String ascii) {
        int length = 2 * (ascii.length() + 1);
        assertEquals(0, length & ~0x7f);
        return HexFormat.of().toHexDigits((byte) length)
                + HexFormat.of().formatHex(ascii.getBytes(StandardCharsets.US_ASCII)) + "00";
    }
}
