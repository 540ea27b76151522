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

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4"})
    void runIsTheSameWhereverARegionEnds(WireFormat format) {
        String[] texts = {text(20), "", text(3), null, text(64), "\u00e9", text(130), text(9)};
        byte[] packed = Packed.bytes(format, packer -> packer.packStrings(texts));
        for (int end = 1; end < packed.length; end++) {
            try (SealedBuffer cut = Packed.cut(packed, end)) {
                assertArrayEquals(texts, Unpacker.of(cut, format).unpackStrings(), "end=" + end);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4"})
    void runThatEndsEarlyIsTruncatedAtEachByte(WireFormat format) {
        byte[] packed = Packed.bytes(format, packer -> packer.packStrings(text(20), text(3), text(9)));
        try (SealedBuffer buffer = Packed.sealed(packed)) {
            for (int end = 0; end < packed.length; end++) {
                // more bytes follow in the same region
                Unpacker unpacker = Unpacker.of(buffer, format).limit(end);
                UnpackException failure = assertThrows(UnpackException.class, unpacker::unpackStrings, "end=" + end);
                assertEquals(UnpackException.Reason.TRUNCATED, failure.reason(), failure.getMessage());
                assertEquals(0, unpacker.position());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4"})
    void oddByteInARunIsSeenAtItsText(WireFormat format) {
        String[] texts = {text(20), text(30), text(9)};
        byte[] packed = Packed.bytes(format, packer -> packer.packStrings(texts));
        int second = packed.length
                - Packed.bytes(format, packer -> packer.packStrings(texts[1], texts[2])).length
                + Packed.bytes(format, packer -> packer.packStrings()).length;
        int head = format == WireFormat.PMIX_4 ? 1 : 4;
        for (int i = 0; i < 30; i++) {
            assertEquals("string holds a zero byte", run(format, packed, second + head + i, 0, second));
            assertEquals("string is not UTF-8", run(format, packed, second + head + i, 0x80, second));
        }
        assertEquals("string without its terminating zero", run(format, packed, second + head + 30, 'a', second));
        // a negative length
        assertEquals("string length out of range", run(format, packed, second, head == 1 ? 0x3d : 0xff, second));
    }

    @ParameterizedTest
    @EnumSource(names = {"OPAL_DSS", "PMIX_4"})
    void textOfARunHasAtMostItsLimit(WireFormat format) {
        byte[] packed = Packed.bytes(format, packer -> packer.packStrings(text(20), text(30), text(9)));
        try (SealedBuffer buffer = Packed.sealed(packed)) {
            assertEquals(3, Unpacker.of(buffer, format, new Limits(10, 31)).unpackStrings().length);
            Unpacker unpacker = Unpacker.of(buffer, format, new Limits(10, 30));
            UnpackException failure = assertThrows(UnpackException.class, unpacker::unpackStrings);
            assertEquals(UnpackException.Reason.LIMIT, failure.reason(), failure.getMessage());
            assertEquals(0, unpacker.position());
        }
    }

    private static String run(WireFormat format, byte[] packed, int at, int odd, int text) {
        byte[] broken = Arrays.copyOf(packed, packed.length);
        broken[at] = (byte) odd;
        try (SealedBuffer buffer = Packed.sealed(broken)) {
            Unpacker unpacker = Unpacker.of(buffer, format);
            UnpackException failure = assertThrows(UnpackException.class, unpacker::unpackStrings);
            assertEquals(text, failure.offset(), failure.getMessage());
            assertEquals(0, unpacker.position());
            return failure.getMessage().replaceFirst(":.*", "");
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
