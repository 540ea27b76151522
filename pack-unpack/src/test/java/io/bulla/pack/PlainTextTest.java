// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.Wire;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// ASCII is written in one go, with its length before it and a zero behind it, where there is room; anything else
/// leaves the builder as it was.
class PlainTextTest {

    private static final int LONGEST = 200;
    private static final int INLINED_AT_MOST = 325;

    private final ArenaSource source = ArenaSource.create();

    /// No question mark among them, which stands for other characters.
    private static String ascii(int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) (1 + (i * 37 + length) % 0x7f));
        }
        return text.toString().replace('?', '!');
    }

    private static void putReference(BufferBuilder builder, Encoding encoding, String text, boolean one) {
        if (one) {
            encoding.putOne(builder);
        }
        encoding.put(builder, Wire.INT32, text.length() + 1L);
        builder.putString(text, StandardCharsets.US_ASCII).putByte((byte) 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_3", "PMIX_4"})
    void textsOfEveryLengthStandBetweenLengthAndZero(WireFormat format) {
        for (boolean one : new boolean[] {false, true}) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 16);
                    BufferBuilder expected = BufferBuilder.create(source)) {
                for (int length = 0; length <= LONGEST; length++) {
                    assertTrue(InPlace.tryText(builder, format.encoding(), ascii(length), one), "length=" + length);
                    putReference(expected, format.encoding(), ascii(length), one);
                }
                assertSame(expected, builder);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4"})
    void headsOfLongTextsAreThoseOfAnyNumber(WireFormat format) {
        for (int length : new int[] {62, 63, 8190, 8191, 8192, 1 << 20, (1 << 20) - 1}) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 22);
                    BufferBuilder expected = BufferBuilder.create(source)) {
                for (boolean one : new boolean[] {false, true}) {
                    String text = "a".repeat(length);
                    assertTrue(InPlace.tryText(builder, format.encoding(), text, one), "length=" + length);
                    putReference(expected, format.encoding(), text, one);
                    builder.putByte((byte) 7);
                    expected.putByte((byte) 7);
                }
                assertSame(expected, builder);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 20, 100, 1 << 16})
    void packedTextIsTheSameWhereverARegionEnds(int firstCapacity) {
        for (WireFormat format : new WireFormat[] {WireFormat.OPAL_DSS, WireFormat.PMIX_4}) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, firstCapacity);
                    BufferBuilder expected = BufferBuilder.create(source)) {
                Packer packer = Packer.into(builder, format);
                for (int length = 0; length <= LONGEST; length++) {
                    packer.packString(ascii(length) + "?").packStrings(ascii(length));
                    putReference(expected, format.encoding(), ascii(length) + "?", true);
                    putReference(expected, format.encoding(), ascii(length), true);
                }
                assertSame(expected, builder);
            }
        }
    }

    /// One at each place that cannot be written in one go: the others stand before and behind it.
    @ParameterizedTest
    @ValueSource(ints = {1, 20, 100, 1 << 16})
    void stringsOfOneItemAreWhatEachOfThemIs(int firstCapacity) {
        for (WireFormat format : new WireFormat[] {WireFormat.OPAL_DSS, WireFormat.PMIX_4}) {
            for (String odd : new String[] {null, "", "?", "\u00e9", "a".repeat(300)}) {
                for (int at = 0; at < 6; at++) {
                    String[] values = {"", "a", "four", "eight or more", ascii(20), ascii(40)};
                    values[at] = odd;
                    try (BufferBuilder builder = BufferBuilder.ofCapacity(source, firstCapacity);
                            BufferBuilder expected = BufferBuilder.create(source)) {
                        Packer.into(builder, format).packStrings(values);
                        putStrings(expected, format.encoding(), values);
                        assertSame(expected, builder);
                    }
                }
            }
        }
    }

    private static void putStrings(BufferBuilder builder, Encoding encoding, String[] values) {
        encoding.put(builder, Wire.INT32, values.length);
        for (String each : values) {
            byte[] bytes = each == null ? new byte[0] : (each + "\0").getBytes(StandardCharsets.UTF_8);
            encoding.put(builder, Wire.INT32, bytes.length);
            builder.put(bytes);
        }
    }

    @Test
    void stringsAreWrittenUpToTheFirstThatIsNot() {
        String[] values = {"a", "b", "c", "d"};
        for (int odd = 0; odd < values.length; odd++) {
            for (String other : new String[] {null, "\u00e9", "long"}) {
                String[] all = values.clone();
                all[odd] = other;
                try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 10);
                        BufferBuilder expected = BufferBuilder.create(source)) {
                    int limit = "long".length();
                    assertEquals(odd, InPlace.tryTexts(builder, FixedWidth.ENCODING, limit, all, 0));
                    for (int i = 0; i < odd; i++) {
                        putReference(expected, FixedWidth.ENCODING, all[i], false);
                    }
                    assertSame(expected, builder);
                }
            }
        }
    }

    @Test
    void oneOtherCharacterAnywhereIsRefused() {
        for (char odd : new char[] {0, '?', 0x80, 0xff, 0x100, 0x141, 0x3f00, 0xd800, 0xdc3f, 0xffff}) {
            for (int length = 1; length <= 70; length++) {
                for (int at = 0; at < length; at++) {
                    StringBuilder text = new StringBuilder(ascii(length));
                    text.setCharAt(at, odd);
                    assertLeftAlone(text.toString(), "odd=" + (int) odd + " length=" + length + " at=" + at);
                }
            }
        }
    }

    @Test
    void twoByteTextThatEndsInU0000IsRefused() {
        assertLeftAlone("abcdefg\u00e9\0", "two bytes and a zero");
    }

    private void assertLeftAlone(String text, String where) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 10)) {
            builder.putByte((byte) 1);
            assertFalse(InPlace.tryText(builder, FixedWidth.ENCODING, text, true), where);
            assertEquals(1, builder.byteSize(), where);
        }
    }

    @Test
    void textWithoutRoomForTheWholeIsRefused() {
        for (int length = 0; length <= LONGEST; length++) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 10)) {
                builder.put(new byte[(1 << 10) - length - 15]);
                assertFalse(InPlace.tryText(builder, FixedWidth.ENCODING, ascii(length), true), "length=" + length);
                assertEquals((1 << 10) - length - 15, builder.byteSize());
                builder.truncate((1 << 10) - length - 16);
                assertTrue(InPlace.tryText(builder, FixedWidth.ENCODING, ascii(length), true), "length=" + length);
            }
        }
    }

    @Test
    void questionMarksAreWritten() {
        try (BufferBuilder builder = BufferBuilder.create(source);
                BufferBuilder expected = BufferBuilder.create(source)) {
            Packer.into(builder, WireFormat.PMIX_4).packString("what, and why?").packString("?");
            putReference(expected, Flex128.ENCODING, "what, and why?", true);
            putReference(expected, Flex128.ENCODING, "?", true);
            assertSame(expected, builder);
        }
    }

    @Test
    void refusedTextBecomesNoPartOfWhatFollows() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 10);
                BufferBuilder expected = BufferBuilder.create(source)) {
            assertFalse(InPlace.tryText(builder, Flex128.ENCODING, "\u20ac".repeat(100), true));
            assertTrue(InPlace.tryText(builder, Flex128.ENCODING, "ab", false));
            putReference(expected, Flex128.ENCODING, "ab", false);
            assertSame(expected, builder);
        }
    }

    @Test
    void textThatTheSourceHasNoMemoryForLeavesNothing() {
        ArenaSource small = ArenaSource.builder()
                .budget(new MemoryBudget(1 << 17))
                .chunkBytes(1 << 16)
                .build();
        try (BufferBuilder builder = BufferBuilder.ofCapacity(small, 64)) {
            builder.putByte((byte) 1);
            Packer packer = Packer.into(builder, WireFormat.OPAL_DSS);
            for (String each : new String[] {"a".repeat(1 << 18), "\u00e9".repeat(1 << 17)}) {
                assertThrows(IllegalStateException.class, () -> packer.packString(each));
                assertEquals(1, builder.byteSize());
                assertThrows(IllegalStateException.class, () -> packer.packStrings("b", each));
                assertEquals(1, builder.byteSize());
            }
        }
    }

    @Test
    void sealedBuilderWritesNoText() {
        BufferBuilder builder = BufferBuilder.create(source);
        builder.putByte((byte) 1).seal().close();
        assertFalse(InPlace.tryText(builder, FixedWidth.ENCODING, "a", true));
        Packer packer = Packer.into(builder, WireFormat.OPAL_DSS);
        assertEquals(
                "builder already sealed: byteSize=1",
                assertThrows(IllegalStateException.class, () -> packer.packString("a"))
                        .getMessage());
    }

    @Test
    void methodThatWritesTextIsTooLongToBeInlined() throws IOException {
        try (InputStream in = InPlace.class.getResourceAsStream("InPlace.class")) {
            MethodModel method = ClassFile.of().parse(in.readAllBytes()).methods().stream()
                    .filter(each -> each.methodName().equalsString("putText"))
                    .findFirst()
                    .orElseThrow();
            int bytes = ((CodeAttribute) method.code().orElseThrow()).codeLength();
            assertTrue(bytes > INLINED_AT_MOST, "bytes=" + bytes);
        }
    }

    private static void assertSame(BufferBuilder expected, BufferBuilder builder) {
        try (SealedBuffer wanted = expected.seal();
                SealedBuffer buffer = builder.seal()) {
            assertArrayEquals(wanted.toByteArray(), buffer.toByteArray());
        }
    }
}
