// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// ASCII is written with a zero behind it, wherever a region ends; anything else leaves the builder as it was.
class AsciiTest {

    private static final int LONGEST = 70;

    private final ArenaSource source = ArenaSource.create();

    private static String ascii(int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) (1 + (i * 37 + length) % 0x7f));
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 20, 100, 1 << 16})
    void textsOfEveryLengthHaveAZeroBehindThem(int firstCapacity) {
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, firstCapacity)) {
            for (int length = 0; length <= LONGEST; length++) {
                assertTrue(Ascii.tryPut(builder, ascii(length)), "length=" + length);
                expected.writeBytes((ascii(length) + "\0").getBytes(StandardCharsets.US_ASCII));
            }
            assertBytes(expected.toByteArray(), builder);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 1 << 16})
    void oneOtherCharacterAnywhereIsRefused(int firstCapacity) {
        for (char odd : new char[] {0, 0x80, 0xff, 0x100, 0x141, 0x3f00, 0xd800, 0xdc3f, 0xffff}) {
            for (int length = 1; length <= LONGEST; length++) {
                for (int at = 0; at < length; at++) {
                    StringBuilder text = new StringBuilder(ascii(length).replace('?', '!'));
                    text.setCharAt(at, odd);
                    try (BufferBuilder builder = BufferBuilder.ofCapacity(source, firstCapacity)) {
                        builder.putByte((byte) 1);
                        String where = "odd=" + (int) odd + " length=" + length + " at=" + at;
                        assertFalse(Ascii.tryPut(builder, text.toString()), where);
                        assertEquals(1, builder.byteSize(), where);
                    }
                }
            }
        }
    }

    @Test
    void twoByteTextThatEndsInU0000IsRefused() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            builder.putByte((byte) 1);
            assertFalse(Ascii.tryPut(builder, "abcdefg\u00e9\0"));
            assertEquals(1, builder.byteSize());
        }
    }

    @Test
    void questionMarksAreWritten() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            assertTrue(Ascii.tryPut(builder, "what, and why?"));
            assertTrue(Ascii.tryPut(builder, "?"));
            assertBytes("what, and why?\0?\0".getBytes(StandardCharsets.US_ASCII), builder);
        }
    }

    @Test
    void refusedTextBecomesNoPartOfWhatFollows() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, 1 << 10)) {
            assertFalse(Ascii.tryPut(builder, "\u20ac".repeat(100)));
            assertTrue(Ascii.tryPut(builder, "ab"));
            assertBytes(new byte[] {'a', 'b', 0}, builder);
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
            assertThrows(IllegalStateException.class, () -> Ascii.tryPut(builder, "a".repeat(1 << 18)));
            assertEquals(1, builder.byteSize());
        }
    }

    @Test
    void sealedBuilderWritesNoText() {
        BufferBuilder builder = BufferBuilder.create(source);
        builder.putByte((byte) 1).seal().close();
        assertEquals(
                "builder already sealed: byteSize=1",
                assertThrows(IllegalStateException.class, () -> Ascii.tryPut(builder, "a"))
                        .getMessage());
    }

    private static void assertBytes(byte[] expected, BufferBuilder builder) {
        try (SealedBuffer buffer = builder.seal()) {
            assertArrayEquals(expected, buffer.toByteArray());
        }
    }
}
