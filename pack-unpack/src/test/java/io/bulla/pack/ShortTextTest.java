// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.SealedBuffer;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Text of every length is read as it was written, and one odd byte anywhere is seen.
class ShortTextTest {

    private static final int LONGEST = 140;

    private static String text(int length) {
        return "the quick brown fox jumps over the lazy dog; ".repeat(4).substring(0, length);
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4", "PMIX_4_DESCRIBED"})
    void textsOfEveryLengthComeBack(WireFormat format) {
        String[] texts = new String[4 * LONGEST];
        for (int i = 0; i < LONGEST; i++) {
            texts[4 * i] = text(i);
            texts[4 * i + 1] = text(i) + "\u00e9";
            texts[4 * i + 2] = text(i) + "\u20ac\ud83d\ude00" + text(3);
            texts[4 * i + 3] = i % 3 == 0 ? null : text(i) + "?";
        }
        byte[] packed = Packed.bytes(format, packer -> packer.packStrings(texts));
        try (SealedBuffer buffer = Packed.sealed(packed);
                SealedBuffer cut = Packed.cut(packed, 7, 100, packed.length / 2)) {
            assertArrayEquals(texts, Unpacker.of(buffer, format).unpackStrings());
            assertArrayEquals(texts, Unpacker.of(cut, format).unpackStrings());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4"})
    void oneOddByteAnywhereIsSeen(WireFormat format) {
        for (int length = 1; length < LONGEST; length++) {
            byte[] packed = packed(format, text(length));
            int first = packed.length - 1 - length;
            for (int i = 0; i < length; i++) {
                assertEquals("string holds a zero byte", outcome(format, packed, first + i, 0));
                assertEquals("string is not UTF-8", outcome(format, packed, first + i, 0x80));
            }
            assertEquals("string without its terminating zero", outcome(format, packed, packed.length - 1, 'a'));
        }
    }

    private static byte[] packed(WireFormat format, String text) {
        return Packed.bytes(format, packer -> packer.packString(text));
    }

    private static String outcome(WireFormat format, byte[] packed, int at, int odd) {
        byte[] broken = Arrays.copyOf(packed, packed.length);
        broken[at] = (byte) odd;
        try (SealedBuffer buffer = Packed.sealed(broken)) {
            Unpacker unpacker = Unpacker.of(buffer, format);
            String message =
                    assertThrows(UnpackException.class, unpacker::unpackString).getMessage();
            assertEquals(0, unpacker.position());
            return message.replaceFirst(":.*", "");
        }
    }
}
