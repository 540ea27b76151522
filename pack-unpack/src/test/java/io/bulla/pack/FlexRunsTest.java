// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Wire;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A run of numbers has the bytes of its numbers one by one, and odd bytes in it are found where they stand.
class FlexRunsTest {

    private static final int MOST_BYTES = 5;
    private static final int LONGEST = 40;

    /// Numbers whose code takes so many bytes, at both borders and between.
    private static int ofBytes(int bytes, boolean unsigned, Random random) {
        long least = bytes == 1 ? 0 : 1L << 7 * (bytes - 1);
        long most = Math.min(1L << 7 * bytes, 1L << Integer.SIZE) - 1;
        long code = switch (random.nextInt(4)) {
            case 0 -> least;
            case 1 -> most;
            default -> random.nextLong(least, most + 1);
        };
        return (int) (unsigned ? code : code >>> 1 ^ -(code & 1));
    }

    @ParameterizedTest
    @EnumSource(names = {"INT32", "UINT32"})
    void runsOfAllLengthsAreTheirNumbersOneByOne(DataType type) {
        Random random = new Random(1);
        boolean unsigned = type == DataType.UINT32;
        for (int round = 0; round < 20_000; round++) {
            int[] values = new int[random.nextInt(LONGEST)];
            int bytes = 1;
            for (int i = 0; i < values.length; i++) {
                // neighbours are alike more often than not
                bytes = random.nextInt(4) == 0 ? 1 + random.nextInt(MOST_BYTES) : bytes;
                values[i] = ofBytes(bytes, unsigned, random);
            }
            byte[] packed = Packed.bytes(WireFormat.PMIX_4, packer -> packer.packInts(type, values));
            assertArrayEquals(oneByOne(type, values), packed, () -> Arrays.toString(values));
            try (SealedBuffer buffer = Packed.sealed(packed)) {
                Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4);
                assertArrayEquals(values, unpacker.unpackInts(type));
                assertEquals(0, unpacker.remaining());
            }
        }
    }

    private static byte[] oneByOne(DataType type, int[] values) {
        try (BufferBuilder builder = BufferBuilder.create(Packed.SOURCE)) {
            Flex128.ENCODING.put(builder, Wire.INT32, values.length);
            for (int value : values) {
                Flex128.ENCODING.put(builder, type.wire(), type.wire().isUnsigned() ? value & 0xffff_ffffL : value);
            }
            try (SealedBuffer buffer = builder.seal()) {
                return Packed.bytes(buffer.iovec());
            }
        }
    }

    /// A number of sixteen among its like, made odd: padded with a zero group, or too long for 32 bits.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void oddNumberInARunIsFoundWhereItStands(int bytes) {
        int[] values = new int[16];
        Arrays.setAll(values, i -> ofBytes(bytes, true, new Random(i)) | 1);
        byte[] run = Packed.bytes(WireFormat.PMIX_4, packer -> packer.packInts(DataType.UINT32, values));
        for (int i = 0; i < values.length; i++) {
            int at = 1 + i * bytes;
            assertOdd(spliced(run, at, bytes, padded(bytes)), "number padded with zeros", at);
            assertOdd(spliced(run, at, bytes, new byte[] {-1, -1, -1, -1, 0x1f}), "number too wide", at);
            assertOdd(spliced(run, at, bytes, new byte[] {-1, -1, -1, -1, -1, 1}), "number too long", at);
        }
    }

    /// So many bytes, or two, that say what one fewer would have said.
    private static byte[] padded(int bytes) {
        byte[] number = new byte[Math.max(2, bytes)];
        Arrays.fill(number, 0, number.length - 1, (byte) 0x81);
        return number;
    }

    private static byte[] spliced(byte[] run, int at, int bytes, byte... odd) {
        byte[] spliced = new byte[run.length - bytes + odd.length];
        System.arraycopy(run, 0, spliced, 0, at);
        System.arraycopy(odd, 0, spliced, at, odd.length);
        System.arraycopy(run, at + bytes, spliced, at + odd.length, run.length - at - bytes);
        return spliced;
    }

    private static void assertOdd(byte[] bytes, String what, int at) {
        try (SealedBuffer buffer = Packed.sealed(bytes)) {
            Unpacker unpacker = Unpacker.of(buffer, WireFormat.PMIX_4);
            UnpackException refused =
                    assertThrows(UnpackException.class, () -> unpacker.unpackInts(DataType.UINT32, new int[16]));
            assertEquals(what, refused.getMessage().replaceFirst(":.*", ""));
            assertEquals(at, refused.offset());
            assertEquals(0, unpacker.position());
        }
    }

    @Test
    void anUnpackersLimitCutsARun() {
        byte[] run = Packed.bytes(WireFormat.PMIX_4, packer -> packer.packInt32(new int[16]));
        try (SealedBuffer buffer = Packed.sealed(run)) {
            Unpacker limited = Unpacker.of(buffer, WireFormat.PMIX_4).limit(run.length - 1);
            UnpackException refused =
                    assertThrows(UnpackException.class, () -> limited.unpackInts(DataType.INT32, new int[16]));
            assertEquals(UnpackException.Reason.TRUNCATED, refused.reason());
        }
    }
}
