// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// What C has as any bytes, as Java has it with [io.bulla.pack.TextMode#ESCAPED]: the same rule, put another way.
final class RawText {

    private RawText() {}

    static byte[] bytes(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        text.codePoints().forEach(point -> {
            if (point >= 0xdc80 && point <= 0xdcff) {
                bytes.write(point - 0xdc00);
            } else {
                bytes.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        });
        return bytes.toByteArray();
    }

    /// At each place the character that stands there, or else one byte.
    static String text(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < bytes.length; ) {
            int length = 1;
            String character = null;
            while (character == null && length <= 4 && at + length <= bytes.length) {
                character = character(Arrays.copyOfRange(bytes, at, at + length++));
            }
            at += character == null ? 1 : length - 1;
            text.append(character == null ? String.valueOf((char) (0xdc00 + (bytes[at - 1] & 0xff))) : character);
        }
        return text.toString();
    }

    private static String character(byte[] utf8) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
        } catch (CharacterCodingException none) {
            return null;
        }
    }
}
