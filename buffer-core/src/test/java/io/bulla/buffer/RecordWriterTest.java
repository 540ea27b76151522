// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.iovec.RecordView;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// A record writes what single puts would have written, or nothing that stays.
class RecordWriterTest {

    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private final ArenaSource memory = ArenaSource.builder().budget(budget).build();

    @AfterEach
    void allIsGivenBack() {
        memory.close();
    }

    @Test
    void fieldsLieOneBehindTheOther() {
        byte[] three = {1, 2, 3, 4, 5};
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer sealed = builder.putByte((byte) 9)
                        .record(48)
                        .putByte((byte) 1)
                        .putShort((short) 0x203)
                        .putInt(0x4050607)
                        .putLong(0x8090a0b0c0d0e0fL)
                        .putShort((short) 0x203, ByteOrder.LITTLE_ENDIAN)
                        .putInt(0x4050607, ByteOrder.LITTLE_ENDIAN)
                        .putLong(0x8090a0b0c0d0e0fL, ByteOrder.LITTLE_ENDIAN)
                        .putFloat(1.5f)
                        .putDouble(-2.5)
                        .putInt(7, ByteOrder.BIG_ENDIAN)
                        .put(three, 1, 3)
                        .end()
                        .putInt(6)
                        .seal()) {
            ByteBuffer expected = ByteBuffer.allocate(53)
                    .put((byte) 9)
                    .put((byte) 1)
                    .putShort((short) 0x203)
                    .putInt(0x4050607)
                    .putLong(0x8090a0b0c0d0e0fL)
                    .putShort((short) 0x302)
                    .putInt(0x7060504)
                    .putLong(0xf0e0d0c0b0a0908L)
                    .putFloat(1.5f)
                    .putDouble(-2.5)
                    .putInt(7)
                    .put(three, 1, 3)
                    .putInt(6);
            assertArrayEquals(expected.array(), sealed.toByteArray());
        }
    }

    @Test
    void recordLiesInOneRegionAndBehindOthers() {
        try (BufferBuilder builder = BufferBuilder.create(new StingyOnes(memory))) {
            for (int i = 0; i < 100; i++) {
                builder.putByte((byte) i).record(12).putInt(i).putLong(-i).end();
            }
            try (SealedBuffer sealed = builder.seal()) {
                assertEquals(1300, sealed.byteSize());
                BufferReader reader = BufferReader.of(sealed);
                for (int i = 0; i < 100; i++) {
                    assertEquals(i, reader.getByte());
                    RecordView record = reader.record(12);
                    assertEquals(i, record.getInt(0));
                    assertEquals(-i, record.getLong(4));
                }
                assertThrows(IndexOutOfBoundsException.class, () -> reader.record(1));
                assertEquals(1300, reader.position());
            }
        }
    }

    /// Regions of just what is asked for, none of which grows.
    private record StingyOnes(MemorySource of) implements MemorySource {
        @Override
        public Region allocate(long byteSize) {
            return of.allocate(Math.min(byteSize, 64));
        }
    }

    @Test
    void builderRefusesAllElseWhileARecordIsOpen() {
        try (BufferBuilder builder = BufferBuilder.create(memory).putInt(1)) {
            RecordWriter open = builder.record(8).putInt(2);
            for (Executable each : List.<Executable>of(
                    () -> builder.putByte((byte) 1),
                    () -> builder.putShort((short) 1),
                    () -> builder.putInt(1),
                    () -> builder.putLong(1),
                    () -> builder.put(new byte[1]),
                    () -> builder.put(),
                    () -> builder.put(MemorySegment.NULL),
                    () -> builder.putInts(new int[1], 0, 1),
                    () -> builder.readFully(Channels.newChannel(new java.io.ByteArrayInputStream(new byte[1])), 1),
                    () -> builder.asOutputStream().write(1),
                    () -> builder.record(1),
                    () -> builder.truncate(5),
                    builder::seal)) {
                IllegalStateException refused = assertThrows(IllegalStateException.class, each);
                assertEquals("builder has an open record: record=8 byteSize=12", refused.getMessage());
            }
            assertEquals(12, builder.byteSize());
            assertEquals(4, open.remaining());
            open.putInt(3).end().putInt(4);
            try (SealedBuffer sealed = builder.seal()) {
                assertArrayEquals(new byte[] {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}, sealed.toByteArray());
            }
        }
    }

    @Test
    void unfinishedOneDoesNotEndAndGoesOn() {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            RecordWriter record = builder.record(6).putInt(1);
            IllegalStateException early = assertThrows(IllegalStateException.class, record::end);
            assertEquals("record unfinished: written=4 byteSize=6", early.getMessage());
            IndexOutOfBoundsException past = assertThrows(IndexOutOfBoundsException.class, () -> record.putInt(1));
            assertEquals("write past the record's end: written=4 width=4 byteSize=6", past.getMessage());
            assertThrows(IndexOutOfBoundsException.class, () -> record.putLong(1));
            assertThrows(IndexOutOfBoundsException.class, () -> record.put(new byte[3], 0, 3));
            record.putByte((byte) 1);
            assertThrows(IndexOutOfBoundsException.class, () -> record.putShort((short) 1));
            record.putByte((byte) 1);
            assertThrows(IndexOutOfBoundsException.class, () -> record.putByte((byte) 1));
            record.end();
        }
    }

    @Test
    void noneWritesAfterItsEnd() {
        BufferBuilder builder = BufferBuilder.create(memory);
        RecordWriter ended = builder.record(4).putShort((short) 1).putShort((short) 2);
        ended.end();
        assertOver(ended);
        RecordWriter given = builder.record(8).putInt(1);
        builder.truncate(4);
        assertOver(given);
        RecordWriter second = builder.record(8).putInt(1);
        assertOver(given);
        second.putInt(2).end();
        try (SealedBuffer sealed = builder.seal()) {
            assertArrayEquals(new byte[] {0, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2}, sealed.toByteArray());
            assertOver(second);
        }
        BufferBuilder closed = BufferBuilder.create(memory);
        RecordWriter left = closed.record(8);
        closed.close();
        assertOver(left);
        assertThrows(IllegalStateException.class, closed::seal);
    }

    private static void assertOver(RecordWriter record) {
        for (Executable each : List.<Executable>of(
                () -> record.putByte((byte) 1),
                () -> record.putInt(1),
                () -> record.put(new byte[0], 0, 0),
                record::end)) {
            IllegalStateException over = assertThrows(IllegalStateException.class, each);
            assertEquals("record already over", over.getMessage().substring(0, 19));
        }
    }

    @Test
    void oneThatFindsNoMemoryLeavesTheBuilderAsItWas() {
        try (BufferBuilder builder = BufferBuilder.create(memory).putInt(1)) {
            assertThrows(MemoryLimitException.class, () -> builder.record(2 << 20));
            assertThrows(IllegalArgumentException.class, () -> builder.record(0));
            assertThrows(IllegalArgumentException.class, () -> builder.record(-1));
            try (SealedBuffer sealed = builder.putInt(2).seal()) {
                assertEquals(8, sealed.byteSize());
            }
        }
    }

    @Test
    void openOneIsDroppedByATruncateBeforeIt() {
        try (BufferBuilder builder = BufferBuilder.create(memory).putInt(1)) {
            builder.record(400).putInt(2);
            builder.truncate(2);
            assertEquals(2, builder.byteSize());
            try (SealedBuffer sealed = builder.putShort((short) 5).seal()) {
                assertArrayEquals(new byte[] {0, 0, 0, 5}, sealed.toByteArray());
            }
        }
    }

    @Test
    void openOneAtTheStartIsDroppedByATruncateToNothing() {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            RecordWriter dropped = builder.record(8).putInt(2);
            assertThrows(IllegalStateException.class, () -> builder.truncate(-1));
            builder.truncate(0);
            assertOver(dropped);
            try (SealedBuffer sealed = builder.putByte((byte) 5).seal()) {
                assertArrayEquals(new byte[] {5}, sealed.toByteArray());
            }
        }
    }
}
