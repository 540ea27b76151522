// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import org.junit.jupiter.api.Test;

/// Numbers are written in as many bytes as were asked for.
class InPlaceTest {

    private final ArenaSource source = ArenaSource.create();

    @Test
    void lowBytesComeLowestFirst() {
        byte[] expected = new byte[8 * 9 / 2 * 40];
        try (BufferBuilder builder = BufferBuilder.create(ArenaSource.create())) {
            int at = 0;
            for (int round = 0; round < 40; round++) {
                for (int length = 1; length <= 8; length++) {
                    InPlace.putLittleEndian(builder, 0x0807060504030201L, length);
                    for (int i = 1; i <= length; i++) {
                        expected[at++] = (byte) i;
                    }
                }
            }
            assertBytes(expected, builder);
        }
    }

    @Test
    void numberHasAtMostEightBytes() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            for (int length : new int[] {-1, 9}) {
                assertEquals(
                        "a long has eight bytes: length=" + length,
                        assertThrows(IllegalArgumentException.class, () -> InPlace.putLittleEndian(builder, 1, length))
                                .getMessage());
            }
            assertEquals(0, builder.byteSize());
        }
    }

    @Test
    void sealedBuilderTakesNoNumber() {
        BufferBuilder builder = BufferBuilder.create(source);
        builder.putByte((byte) 1).seal().close();
        assertThrows(IllegalStateException.class, () -> InPlace.putLittleEndian(builder, 1, 4));
    }

    private static void assertBytes(byte[] expected, BufferBuilder builder) {
        try (SealedBuffer buffer = builder.seal()) {
            assertArrayEquals(expected, buffer.toByteArray());
        }
    }
}
