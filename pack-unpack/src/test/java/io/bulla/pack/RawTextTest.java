// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What C packs and reads though it is no text: other bytes than UTF-8, and no key.
class RawTextTest {

    private static final byte[] LATIN = {'h', (byte) 0xe9, 'l', (byte) 0xff};
    private static final String ESCAPED = "h\udce9l\udcff";

    @ParameterizedTest
    @EnumSource
    void rawBytesOfTextAreReadAndPacked(WireFormat format) {
        byte[] bytes = packed(
                format,
                packer -> packer.packRawString(Packed.vector(LATIN), null, Packed.vector())
                        .packRawString(Packed.vector(LATIN))
                        .packInt32(7));
        assertArrayEquals(
                bytes,
                packed(
                        format,
                        packer -> packer.packStrings(ESCAPED, null, "")
                                .packString(ESCAPED)
                                .packInt32(7)));
        for (int at = 0; at < bytes.length; at++) {
            try (SealedBuffer buffer = Packed.cut(bytes, at)) {
                Unpacker unpacker = Unpacker.of(buffer, format);
                assertArrayEquals(
                        new IoVec[] {Packed.vector(LATIN), null, Packed.vector()}, unpacker.unpackRawStrings());
                assertEquals(Packed.vector(LATIN), unpacker.unpackRawString());
                assertEquals(7, unpacker.unpackInt32());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void textThatIsNotUtf8IsRefusedUnlessAskedFor(WireFormat format) {
        byte[] bytes = packed(format, packer -> packer.packRawString(Packed.vector(LATIN)));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            UnpackException refused = assertThrows(
                    UnpackException.class, () -> Unpacker.of(buffer, format).unpackString());
            assertEquals(UnpackException.Reason.MALFORMED, refused.reason());
            assertEquals(
                    ESCAPED,
                    Unpacker.of(buffer, format, Limits.DEFAULT, TextMode.ESCAPED)
                            .unpackString());
        }
        assertEquals(
                "string holds half a surrogate pair: index=1 length=4",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> Packed.bytes(format, packer -> packer.packString(ESCAPED)))
                        .getMessage());
        assertEquals(
                "string holds half a surrogate pair: index=0 length=1",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> packed(format, packer -> packer.packString("\udc7f")))
                        .getMessage());
    }

    @Property(tries = 2000)
    void anyBytesButZeroGoOutAsTheyCame(@ForAll byte[] any, @ForAll WireFormat format) {
        byte[] text =
                new String(any, StandardCharsets.ISO_8859_1).replace("\0", "").getBytes(StandardCharsets.ISO_8859_1);
        byte[] bytes = packed(format, packer -> packer.packRawString(Packed.vector(text)));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            String read = Unpacker.of(buffer, format, Limits.DEFAULT, TextMode.ESCAPED)
                    .unpackString();
            assertArrayEquals(bytes, packed(format, packer -> packer.packString(read)));
            assertEquals(Packed.vector(text), Unpacker.of(buffer, format).unpackRawString());
        }
    }

    @Test
    void keysAndNamesMayBeEscapedToo() {
        Info info = new Info(ESCAPED, 1, Value.of(ESCAPED));
        Proc proc = new Proc(ESCAPED, 3);
        byte[] bytes = packed(WireFormat.PMIX_4, packer -> packer.pack(info).pack(proc));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4, Limits.DEFAULT, TextMode.ESCAPED);
            assertEquals(info, unpacker.unpack(Info.class));
            assertEquals(proc, unpacker.fork().unpack(Proc.class));
        }
        assertThrows(
                IllegalArgumentException.class, () -> Packed.bytes(WireFormat.PMIX_4, packer -> packer.pack(info)));
        assertEquals(511, new Info("\udcff".repeat(511), 0, Value.of("")).key().length());
    }

    @ParameterizedTest
    @EnumSource
    void pairWithoutAKeyIsPackedAndReadAsCDoes(WireFormat format) {
        if (!format.knows(DataType.KVAL)) {
            return;
        }
        Kval pair = new Kval(null, new Value(DataType.INT32, 9));
        byte[] bytes = Packed.bytes(format, packer -> packer.pack(pair));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            assertEquals(pair, Unpacker.of(buffer, format).unpack(Kval.class));
        }
    }

    /// A reader that knows the types, but not what every sender holds for text.
    @Test
    void skipGetsPastWhatCannotBeRead() {
        skips(DataType.STRING, "04 08 68e96c00 00");
        skips(DataType.INFO, "02 00 00 03 08 68e96c00");
        skips(DataType.KVAL, "02 00 03 08 68e96c00");
        skips(DataType.PDATA, "02 00 07 00 03 04 6900");
        skips(DataType.PROC, "04 00 07 04 ff00 08");
        skips(DataType.QUERY, "02 04 00 04 ff00 01 00 00 00");
        skips(DataType.DOUBLE, "04 04 7800 00");
        skips(DataType.PROC_NSPACE, "02 00");
    }

    private static void skips(DataType type, String hex) {
        byte[] item = Packed.ofHex(hex + "0212");
        try (SealedBuffer buffer = Packed.sealed(item)) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4);
            if (type != DataType.KVAL || hex.contains("e9")) {
                assertThrows(UnpackException.class, () -> unpacker.unpack(type), hex);
            }
            unpacker.skip(type);
            assertEquals(9, unpacker.unpackInt32());
        }
        for (int at = 1; at < item.length - 2; at++) {
            try (SealedBuffer whole = Packed.sealed(item);
                    SealedBuffer part = whole.slice(0, at)) {
                Unpacker unpacker = Unpacker.of(part, WireFormat.PMIX_4);
                assertThrows(UnpackException.class, () -> unpacker.skip(type));
                assertEquals(0, unpacker.position());
            }
        }
    }

    @Test
    void skipEndsWhereUnpackDoesOnEveryGoldenVector() throws IOException {
        List<GoldenRow> rows = new ArrayList<>(GoldenRow.of("/pmix-golden.tsv"));
        rows.addAll(GoldenRow.of("/opal-dss-golden.tsv"));
        for (GoldenRow row : rows) {
            byte[] bytes = Packed.ofHex(row.hex());
            try (SealedBuffer buffer = Packed.cut(bytes, bytes.length / 2)) {
                Unpacker read = Unpacker.of(buffer, row.format());
                Unpacker skipped = read.fork();
                read.unpack(row.type());
                skipped.skip(row.type());
                assertEquals(read.position(), skipped.position(), row::toString);
            }
        }
    }

    @Test
    void limitsHoldForASkipToo() {
        Limits limits = new Limits(10, 20, 30, 2, 12);
        refused(
                limits,
                "string length out of range: expected=0..20 found=21 offset=1",
                p -> p.packString("x".repeat(20)));
        refused(limits, "count out of range: expected=0..10 found=11 offset=0", p -> p.packInt32(new int[11]));
        refused(
                limits,
                "nested too deep: expected=2 found=3 offset=5",
                p -> p.pack(DataArray.of(DataType.DATA_ARRAY, DataArray.of(DataType.TIMEVAL, new Timeval(1, 2)))));
    }

    private static void refused(Limits limits, String message, Consumer<Packer> item) {
        byte[] bytes = Packed.bytes(WireFormat.PMIX_4, item);
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4, limits);
            DataType type = bytes[0] == 22 ? DataType.INT32 : bytes[1] == 42 ? DataType.STRING : DataType.DATA_ARRAY;
            assertEquals(
                    message,
                    assertThrows(UnpackException.class, () -> unpacker.skip(type))
                            .getMessage());
        }
    }

    @Test
    void rawTextThatCWouldCutIsRefused() {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Packer packer = Packer.into(builder, WireFormat.PMIX_4).packInt32(1);
            assertEquals(
                    "string holds a zero byte: index=1 byteSize=3",
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> packer.packRawString(Packed.vector((byte) 1, (byte) 0, (byte) 1)))
                            .getMessage());
            assertEquals(2, builder.byteSize());
        }
        try (SealedBuffer buffer = Packed.sealed(Packed.ofHex("02 04 6161"))) {
            assertEquals(
                    "string without its terminating zero: expected=0 found=97 offset=1",
                    assertThrows(
                                    UnpackException.class,
                                    () -> Unpacker.of(buffer, WireFormat.PMIX_4).unpackRawString())
                            .getMessage());
        }
        try (SealedBuffer buffer = Packed.sealed(Packed.ofHex("02 00"))) {
            assertNull(Unpacker.of(buffer, WireFormat.PMIX_4).unpackRawString());
        }
    }

    @Test
    void explainShowsOtherBytesAsTheyAre() {
        StringBuilder out = new StringBuilder();
        byte[] bytes = packed(WireFormat.PMIX_4_DESCRIBED, packer -> packer.packRawString(Packed.vector(LATIN)));
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Explain.described(buffer, WireFormat.PMIX_4_DESCRIBED, out);
        }
        assertEquals("0  STRING x1\n3    \"h\\xe9l\\xff\"\n", out.toString());
    }

    private static byte[] packed(WireFormat format, Consumer<Packer> items) {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            items.accept(Packer.into(builder, format, FloatText.STRICT, TextMode.ESCAPED, Limits.DEFAULT));
            try (SealedBuffer packed = builder.seal()) {
                return Packed.bytes(packed.iovec());
            }
        }
    }
}
