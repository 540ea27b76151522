// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/// Bytes in the layout of `xxd`: offset, eight groups of two bytes, ASCII.
final class HexDump {

    private static final int LINE = 16;
    private static final int CHARACTERS = 68;
    // where the bytes as text begin, behind the offset's digits
    private static final int TEXT = 43;
    private static final int SHORTEST_OFFSET = 8;
    private static final HexFormat HEX = HexFormat.of();

    private HexDump() {}

    static String of(IoVec vec) {
        long lines = (vec.byteSize() + LINE - 1) / LINE;
        StringBuilder out = new StringBuilder((int) Math.min(lines * CHARACTERS, 1 << 20));
        byte[] line = new byte[LINE];
        for (long at = 0; at < vec.byteSize(); at += LINE) {
            int length = (int) Math.min(LINE, vec.byteSize() - at);
            fill(vec, at, line, length);
            append(out, at, line, length);
        }
        return out.toString();
    }

    private static void fill(IoVec vec, long at, byte[] line, int length) {
        for (int i = 0; i < length; i++) {
            line[i] = vec.get(ValueLayout.JAVA_BYTE, at + i);
        }
    }

    private static void append(StringBuilder out, long at, byte[] line, int length) {
        int digits = Math.max(SHORTEST_OFFSET, (Long.SIZE - Long.numberOfLeadingZeros(at) + 3) / 4);
        int start = out.length();
        out.append(HEX.toHexDigits(at, digits)).append(':');
        for (int i = 0; i < length; i++) {
            if (i % 2 == 0) {
                out.append(' ');
            }
            HEX.toHexDigits(out, line[i]);
        }
        out.repeat(' ', start + digits + TEXT - out.length());
        for (int i = 0; i < length; i++) {
            out.append(line[i] >= ' ' && line[i] <= '~' ? (char) line[i] : '.');
        }
        out.append('\n');
    }
}
