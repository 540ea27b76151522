// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The short way for one value writes what the way for many writes.
class OneValueTest {

    @ParameterizedTest
    @EnumSource
    void oneValueHasTheBytesOfAnArrayOfOne(WireFormat format) {
        for (int value : new int[] {0, 1, -1, 63, 64, 8191, 8192, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertArrayEquals(
                    Packed.bytes(format, packer -> packer.packInt32(new int[] {value})),
                    Packed.bytes(format, packer -> packer.packInt32(value)));
        }
        for (long value : new long[] {0, 1, -1, 63, 64, 1L << 55, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertArrayEquals(
                    Packed.bytes(format, packer -> packer.packInt64(new long[] {value})),
                    Packed.bytes(format, packer -> packer.packInt64(value)));
        }
        for (String value : new String[] {null, "", "a", "\u00e9", "x".repeat(100)}) {
            assertArrayEquals(
                    Packed.bytes(format, packer -> packer.packStrings(new String[] {value})),
                    Packed.bytes(format, packer -> packer.packString(value)));
        }
        byte[] object = "y".repeat(40).getBytes(StandardCharsets.US_ASCII);
        assertArrayEquals(
                Packed.bytes(format, packer -> packer.packByteObject(new byte[][] {object})),
                Packed.bytes(format, packer -> packer.packByteObject(object)));
    }
}
