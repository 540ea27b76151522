// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Runs of values are what single puts would have written, wherever a region ends.
class BulkPutTest {

    private static final int COUNT = 5000;

    @Test
    void runsOfValuesAreBigEndianAcrossRegions() {
        short[] shorts = new short[COUNT];
        int[] ints = new int[COUNT];
        long[] longs = new long[COUNT];
        ByteBuffer expected = ByteBuffer.allocate(COUNT * 14 + 3);
        for (int i = 0; i < COUNT; i++) {
            shorts[i] = (short) (i * 40503);
            ints[i] = i * 0x9e3779b1;
            longs[i] = i * 0x9e3779b97f4a7c15L;
        }
        expected.put((byte) 1);
        for (short each : shorts) {
            expected.putShort(each);
        }
        expected.put((byte) 2);
        for (int each : ints) {
            expected.putInt(each);
        }
        expected.put((byte) 3);
        for (long each : longs) {
            expected.putLong(each);
        }
        try (BufferBuilder builder = BufferBuilder.create(ArenaSource.create())) {
            builder.putByte((byte) 1).putShorts(shorts, 0, 7).putShorts(shorts, 7, COUNT - 7);
            builder.putByte((byte) 2).putInts(ints, 0, COUNT);
            builder.putByte((byte) 3).putLongs(longs, 0, COUNT);
            assertBytes(expected.array(), builder);
        }
    }

    @Test
    void rangesAreChecked() {
        try (BufferBuilder builder = BufferBuilder.create(ArenaSource.create())) {
            assertThrows(IndexOutOfBoundsException.class, () -> builder.putInts(new int[3], 2, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> builder.putLongs(new long[3], -1, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> builder.putShorts(new short[3], 0, 4));
            assertEquals(0, builder.byteSize());
        }
    }

    private static void assertBytes(byte[] expected, BufferBuilder builder) {
        try (SealedBuffer buffer = builder.seal()) {
            byte[] found = new byte[(int) buffer.byteSize()];
            buffer.iovec().copyTo(0, MemorySegment.ofArray(found), found.length);
            assertArrayEquals(expected, found);
        }
    }

    @Test
    void runOfNothingIsRefusedAfterTheSealToo() {
        try (ArenaSource memory = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(memory)) {
            builder.put()
                    .putShorts(new short[0], 0, 0)
                    .putInts(new int[0], 0, 0)
                    .putLongs(new long[0], 0, 0)
                    .put(MemorySegment.NULL)
                    .seal()
                    .close();
            assertThrows(IllegalStateException.class, () -> builder.put());
            assertThrows(IllegalStateException.class, () -> builder.put(new byte[4], 4, 0));
            assertThrows(IllegalStateException.class, () -> builder.put(MemorySegment.NULL));
            for (Executable each : List.<Executable>of(
                    () -> builder.putShorts(new short[1], 1, 0),
                    () -> builder.putInts(new int[1], 1, 0),
                    () -> builder.putLongs(new long[1], 1, 0))) {
                assertEquals(
                        "builder already sealed: byteSize=0",
                        assertThrows(IllegalStateException.class, each).getMessage());
            }
        }
    }
}
