// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Text of a peer that is to become a number.
class FloatTextTest {

    private static final Pattern NUMBER = Pattern.compile("[+-]?(?:(?:\\d+[.,]?\\d*|[.,]\\d+)(?:[eE][+-]?\\d+)?"
            + "|0[xX](?:\\p{XDigit}+\\.?\\p{XDigit}*|\\.\\p{XDigit}+)(?:[pP][+-]?\\d+)?)");

    @Test
    void eachCharacterIsLookedAtAFewTimes() {
        String digits = "1".repeat(511);
        for (String text : List.of(
                digits,
                digits + "x",
                digits + "." + digits + "x",
                "0x" + digits + "." + digits + "x",
                digits + "e" + digits + "x",
                "." + digits + ",")) {
            Counted counted = new Counted(text);
            FloatText.isNumber(counted);
            assertTrue(counted.looks[0] <= 4 * text.length(), text.length() + " characters, looks=" + counted.looks[0]);
        }
    }

    /// As the expression that says what it is.
    @Test
    void numbersAreTheOnesOfTheGrammar() {
        Random random = new Random(19);
        int numbers = 0;
        for (int i = 0; i < 300_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(9); left >= 0; left--) {
                text.append("0019afxXeEpP+-..,".charAt(random.nextInt(17)));
            }
            assertEquals(NUMBER.matcher(text).matches(), FloatText.isNumber(text), text::toString);
            numbers += FloatText.isNumber(text) ? 1 : 0;
        }
        assertTrue(numbers > 10_000, "numbers=" + numbers);
    }

    @Test
    void numbersOfNoLengthOrOfAnotherAlphabetAreNone() {
        for (String none : List.of("", "+", ".", "\u0661", "1\u0662", "\u0131nf", "na", "infinit", "nann")) {
            assertThrows(UnpackException.class, () -> FloatText.parseDouble(none, 0), none);
        }
    }

    @Test
    void longestTextThatIsReadHas511Characters() {
        for (int length : new int[] {511, 512}) {
            byte[] text = ("1".repeat(length) + "\0").getBytes(StandardCharsets.US_ASCII);
            byte[] item = Packed.bytes(WireFormat.OPAL_DSS, packer -> packer.packByteObject(text));
            try (SealedBuffer buffer = Packed.sealed(item)) {
                Unpacker unpacker = Unpacker.of(buffer, WireFormat.OPAL_DSS);
                if (length == 511) {
                    assertEquals(Double.POSITIVE_INFINITY, unpacker.unpackDoubles()[0]);
                } else {
                    assertEquals(
                            "string length out of range: expected=0..512 found=513 offset=4",
                            assertThrows(UnpackException.class, unpacker::unpackDoubles)
                                    .getMessage());
                }
            }
        }
    }

    private record Counted(String text, int[] looks) implements CharSequence {

        Counted(String text) {
            this(text, new int[1]);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            looks[0]++;
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            throw new UnsupportedOperationException();
        }
    }
}
