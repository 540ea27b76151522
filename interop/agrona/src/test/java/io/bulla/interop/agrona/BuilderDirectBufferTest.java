// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.agrona;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Every write of Agrona's interface, beside Agrona's own expandable buffer.
class BuilderDirectBufferTest {

    private static final int REACH = 200;
    private static final String NO_ADDRESS =
            "a builder's bytes have no address: copy them with its getBytes(index, target, targetIndex, length)";

    /// Regions of 16 bytes that do not grow, with a past: values straddle them, and skipped bytes are not zero.
    private static final MemorySource TINY = byteSize -> {
        MemorySegment memory = Arena.ofAuto().allocate(Math.max(16, byteSize % 24));
        memory.fill((byte) 0xdb);
        return new MemorySource.Region() {

            @Override
            public MemorySegment segment() {
                return memory;
            }

            @Override
            public void release() {}
        };
    };

    /// Grows to another place, as a pool does: what is written to the old one by then is another buffer's.
    private static final MemorySource MOVING = new MemorySource() {

        @Override
        public Region allocate(long byteSize) {
            return piece(byteSize);
        }

        @Override
        public Region grow(Region region, long byteSize) {
            Region larger = piece(byteSize);
            MemorySegment.copy(region.segment(), 0, larger.segment(), 0, region.byteSize());
            region.segment().fill((byte) 0xdb);
            return larger;
        }

        private static Region piece(long byteSize) {
            MemorySegment memory = Arena.ofAuto().allocate(byteSize);
            return new Region() {

                @Override
                public MemorySegment segment() {
                    return memory;
                }

                @Override
                public void release() {}
            };
        }
    };

    @Test
    void everyWriteIsAsAgronasWhereverTheRegionsEnd() {
        Random random = new Random(20120829);
        for (int round = 0; round < 300; round++) {
            try (BufferBuilder builder = BufferBuilder.create(source(round))) {
                builder.put(new byte[round % 7]);
                BuilderDirectBuffer ours = BuilderDirectBuffer.of(builder);
                MutableDirectBuffer agronas = new ExpandableArrayBuffer(16);
                for (int i = 0; i < 40; i++) {
                    ToIntFunction<MutableDirectBuffer> write = write(random);
                    assertEquals(write.applyAsInt(agronas), write.applyAsInt(ours));
                }
                same(agronas, ours);
                int size = ours.capacity();
                try (SealedBuffer sealed = builder.seal()) {
                    byte[] bytes = sealed.toByteArray();
                    assertEquals(round % 7 + size, bytes.length);
                    for (int i = 0; i < size; i++) {
                        assertEquals(agronas.getByte(i), bytes[round % 7 + i], "byte " + i);
                    }
                }
            }
        }
    }

    private static void same(MutableDirectBuffer agronas, BuilderDirectBuffer ours) {
        for (int i = 0; i <= ours.capacity() - Long.BYTES; i++) {
            assertEquals(agronas.getLong(i), ours.getLong(i));
            assertEquals(agronas.getLong(i, ByteOrder.BIG_ENDIAN), ours.getLong(i, ByteOrder.BIG_ENDIAN));
            assertEquals(agronas.getInt(i, ByteOrder.BIG_ENDIAN), ours.getInt(i, ByteOrder.BIG_ENDIAN));
            assertEquals(agronas.getInt(i), ours.getInt(i));
            assertEquals(agronas.getShort(i), ours.getShort(i));
            assertEquals(agronas.getShort(i, ByteOrder.BIG_ENDIAN), ours.getShort(i, ByteOrder.BIG_ENDIAN));
            assertEquals(agronas.getChar(i), ours.getChar(i));
            assertEquals(agronas.getChar(i, ByteOrder.BIG_ENDIAN), ours.getChar(i, ByteOrder.BIG_ENDIAN));
            assertEquals(agronas.getStringWithoutLengthUtf8(i, 7), ours.getStringWithoutLengthUtf8(i, 7));
        }
        UnsafeBuffer theirs = new UnsafeBuffer(new byte[ours.capacity()]);
        ours.getBytes(0, theirs, 0, ours.capacity());
        assertEquals(0, ours.compareTo(theirs));
    }

    /// One write, the same to whatever buffer it is applied to.
    private static ToIntFunction<MutableDirectBuffer> write(Random random) {
        int at = random.nextInt(REACH);
        long value = random.nextLong() >> random.nextInt(64);
        ByteOrder order = random.nextBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        byte[] bytes = new byte[random.nextInt(50)];
        random.nextBytes(bytes);
        int from = random.nextInt(bytes.length + 1);
        int count = bytes.length - from;
        String text = random.nextInt(9) == 0 ? null : "h\u00e9llo \u20ac".substring(random.nextInt(8)) + value;
        int natural = (int) value & Integer.MAX_VALUE;
        return switch (random.nextInt(25)) {
            case 0 -> done(b -> b.putLong(at, value));
            case 1 -> done(b -> b.putLong(at, value, order));
            case 2 -> done(b -> b.putInt(at, (int) value));
            case 3 -> done(b -> b.putInt(at, (int) value, order));
            case 4 -> done(b -> b.putShort(at, (short) value));
            case 5 -> done(b -> b.putShort(at, (short) value, order));
            case 6 -> done(b -> b.putChar(at, (char) value));
            case 7 -> done(b -> b.putChar(at, (char) value, order));
            case 8 -> done(b -> b.putByte(at, (byte) value));
            case 9 -> done(b -> b.putDouble(at, value / 7.0));
            case 10 -> done(b -> b.putDouble(at, value / 7.0, order));
            case 11 -> done(b -> b.putFloat(at, value / 7.0f));
            case 12 -> done(b -> b.putFloat(at, value / 7.0f, order));
            case 13 -> done(b -> b.setMemory(at, bytes.length, (byte) value));
            case 14 -> done(b -> b.putBytes(at, bytes));
            case 15 -> done(b -> b.putBytes(at, bytes, from, count));
            case 16 -> done(b -> b.putBytes(at, ByteBuffer.wrap(bytes), from, count));
            case 17 ->
                b -> {
                    ByteBuffer source = ByteBuffer.wrap(bytes).position(from);
                    b.putBytes(at, source, count);
                    return source.position();
                };
            case 18 -> done(b -> b.putBytes(at, new UnsafeBuffer(bytes), from, count));
            case 19 -> b -> b.putStringAscii(at, text, order) + b.putStringAscii(at + 60, text);
            case 20 -> b -> b.putStringWithoutLengthAscii(at, text) + b.putStringWithoutLengthAscii(at, text, 0, 3);
            case 21 -> b -> b.putStringUtf8(at, text) + b.putStringUtf8(at + 60, text, order);
            case 22 -> b -> b.putStringWithoutLengthUtf8(at, text) + b.putLongAscii(at, value);
            case 23 -> b -> b.putIntAscii(at, (int) value) + b.putNaturalIntAscii(at + 3, natural);
            default ->
                b -> {
                    b.putNaturalPaddedIntAscii(at, 12, natural);
                    return b.putNaturalIntAsciiFromEnd(natural, at + 40) + b.putNaturalLongAscii(at + 50, natural);
                };
        };
    }

    private interface Write {
        void to(MutableDirectBuffer buffer);
    }

    private static ToIntFunction<MutableDirectBuffer> done(Write write) {
        return buffer -> {
            write.to(buffer);
            return 0;
        };
    }

    @Test
    void nothingOfItOutlivesTheSeal() {
        BufferBuilder builder = BufferBuilder.create(ArenaSource.create());
        BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
        buffer.putInt(0, 7);
        try (SealedBuffer sealed = builder.seal()) {
            for (Executable use : List.<Executable>of(
                    () -> buffer.putInt(0, 8),
                    () -> buffer.putByte(4, (byte) 1),
                    () -> buffer.putBytes(0, new byte[1]),
                    () -> buffer.setMemory(0, 0, (byte) 1),
                    () -> buffer.getInt(0),
                    () -> buffer.checkLimit(1),
                    buffer::capacity,
                    () -> BuilderDirectBuffer.of(builder))) {
                assertEquals(
                        "builder already sealed: byteSize=4",
                        assertThrows(IllegalStateException.class, use).getMessage());
            }
            assertEquals(7, SealedDirectBuffer.of(sealed.iovec()).getInt(0));
        }
    }

    @Test
    void wrappingAndAddressesAreRefusedByName() {
        try (BufferBuilder builder = BufferBuilder.create(ArenaSource.create())) {
            BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            buffer.putLong(0, 1);
            for (Executable wrap : List.<Executable>of(
                    () -> buffer.wrap(new byte[8]),
                    () -> buffer.wrap(new byte[8], 0, 8),
                    () -> buffer.wrap(ByteBuffer.allocate(8)),
                    () -> buffer.wrap(ByteBuffer.allocate(8), 0, 8),
                    () -> buffer.wrap(new UnsafeBuffer(new byte[8])),
                    () -> buffer.wrap(new UnsafeBuffer(new byte[8]), 0, 8),
                    () -> buffer.wrap(4096, 8))) {
                assertEquals(
                        "these bytes have their place: no wrapping around other memory",
                        assertThrows(UnsupportedOperationException.class, wrap).getMessage());
            }
            assertNull(buffer.byteArray());
            assertNull(buffer.byteBuffer());
            assertEquals(
                    NO_ADDRESS,
                    assertThrows(UnsupportedOperationException.class, () -> new UnsafeBuffer(buffer))
                            .getMessage());
            new UnsafeBuffer(new byte[] {7, 7}).getBytes(0, buffer, 3, 2);
            assertEquals(0x0707, buffer.getShort(3));
        }
    }

    @Test
    void textThatThrowsLeavesTheBuilderAsItWas() {
        CharSequence broken = new CharSequence() {
            @Override
            public int length() {
                return 4;
            }

            @Override
            public char charAt(int index) {
                if (index == 2) {
                    throw new IllegalStateException("no character");
                }
                return 'x';
            }

            @Override
            public CharSequence subSequence(int from, int to) {
                return this;
            }
        };
        try (BufferBuilder builder = BufferBuilder.create(TINY)) {
            BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            buffer.putLong(0, 7);
            assertThrows(IllegalStateException.class, () -> buffer.putStringAscii(0, broken));
            assertThrows(IllegalStateException.class, () -> buffer.putStringWithoutLengthAscii(6, broken));
            assertEquals(8, buffer.capacity());
            assertEquals(7, buffer.getLong(0));
        }
    }

    private static MemorySource source(int round) {
        return switch (round % 3) {
            case 0 -> TINY;
            case 1 -> MOVING;
            default -> ArenaSource.create();
        };
    }

    /// A write over the end of what is there, whose room lies elsewhere.
    @Test
    void overlappingWriteThatMovesTheRegionIsWhole() {
        try (BufferBuilder builder = BufferBuilder.create(MOVING)) {
            BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            byte[] expected = new byte[5100];
            Arrays.fill(expected, 0, 100, (byte) 1);
            Arrays.fill(expected, 100, 5100, (byte) 2);
            buffer.putBytes(0, Arrays.copyOf(expected, 200));
            buffer.putBytes(0, new byte[200]);
            buffer.putBytes(0, expected, 0, 100);
            buffer.putBytes(100, expected, 100, 5000);
            try (SealedBuffer sealed = builder.seal()) {
                assertArrayEquals(expected, sealed.toByteArray());
            }
        }
    }

    /// What such a source throws is what the caller gets.
    @Test
    void aSourceThatCutsOrEndsTheBuilderAndThrowsIsHeard() {
        for (boolean ends : new boolean[] {false, true}) {
            try (BufferBuilder builder = BufferBuilder.create(TINY)) {
                BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
                buffer.putLong(0, 7);
                ExpandableArrayBuffer hostile = new ExpandableArrayBuffer(16) {
                    @Override
                    public void getBytes(int index, byte[] target, int offset, int length) {
                        if (ends) {
                            builder.seal().close();
                        } else {
                            builder.truncate(0);
                        }
                        throw new ArithmeticException("hostile");
                    }
                };
                ArithmeticException heard =
                        assertThrows(ArithmeticException.class, () -> buffer.putBytes(4, hostile, 0, 16));
                assertEquals(1, heard.getSuppressed().length);
            }
        }
    }

    /// Agrona's buffers copy from and compare with another one by its address.
    @Test
    void whatAgronaDoesByAddressHasATwinThatWorks() {
        try (BufferBuilder builder = BufferBuilder.create(TINY)) {
            BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            buffer.putStringWithoutLengthAscii(0, "more than sixteen bytes of it");
            UnsafeBuffer theirs = new UnsafeBuffer(new byte[buffer.capacity()]);
            for (Executable byAddress : List.<Executable>of(
                    () -> theirs.putBytes(0, buffer, 0, 4),
                    () -> theirs.compareTo(buffer),
                    () -> theirs.wrap(buffer),
                    () -> new UnsafeBuffer(buffer, 1, 2))) {
                assertEquals(
                        NO_ADDRESS,
                        assertThrows(UnsupportedOperationException.class, byAddress)
                                .getMessage());
            }
            assertTrue(buffer.compareTo(theirs) > 0);
            buffer.getBytes(0, theirs, 0, buffer.capacity());
            assertEquals(0, buffer.compareTo(theirs));
        }
    }

    @Test
    void equalIfItHoldsTheSameBytes() {
        try (BufferBuilder one = BufferBuilder.create(TINY);
                BufferBuilder other = BufferBuilder.create(ArenaSource.create())) {
            other.putByte((byte) 9);
            BuilderDirectBuffer ours = BuilderDirectBuffer.of(one);
            BuilderDirectBuffer theirs = BuilderDirectBuffer.of(other);
            assertEquals(ours, theirs);
            ours.putBytes(0, new byte[40]);
            ours.putInt(20, -7);
            assertNotEquals(ours, theirs);
            theirs.putInt(20, -7);
            theirs.checkLimit(40);
            assertEquals(ours, theirs);
            assertEquals(ours.hashCode(), theirs.hashCode());
            assertEquals(new ExpandableArrayBuffer(8), new ExpandableArrayBuffer(8), "as Agrona's are");
            theirs.putByte(39, (byte) 1);
            assertNotEquals(ours, theirs);
            assertNotEquals(ours, new ExpandableArrayBuffer(40));
            other.seal().close();
            assertEquals(theirs, theirs);
            assertThrows(IllegalStateException.class, () -> ours.equals(theirs));
        }
    }

    @Test
    void limitsAndMistakesLeaveItAsItWas() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        try (ArenaSource source = ArenaSource.create(budget, null);
                BufferBuilder builder = BufferBuilder.create(source)) {
            BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            buffer.putInt(0, 0x01020304);
            assertThrows(MemoryLimitException.class, () -> buffer.checkLimit(1 << 30));
            assertThrows(MemoryLimitException.class, () -> buffer.putBytes(2, new byte[1 << 22]));
            ExpandableArrayBuffer large = new ExpandableArrayBuffer(1 << 22);
            assertThrows(MemoryLimitException.class, () -> buffer.putBytes(4, large, 0, 1 << 22));
            assertThrows(MemoryLimitException.class, () -> buffer.putBytes(2, large, 0, 1 << 22));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.putInt(-1, 7));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.putInt(Integer.MAX_VALUE - 2, 7));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getInt(1));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.putBytes(0, new byte[3], 1, 3));
            assertThrows(IllegalArgumentException.class, () -> buffer.putStringUtf8(0, "four", 3));
            assertThrows(IllegalArgumentException.class, () -> buffer.putNaturalIntAscii(0, -1));
            assertThrows(NumberFormatException.class, () -> buffer.putNaturalPaddedIntAscii(0, 2, 100));
            assertEquals(4, buffer.capacity());
            assertEquals(0x01020304, buffer.getInt(0));
            assertTrue(buffer.isExpandable());
        }
    }

    @Test
    void lateFieldsAndSkippedOnesAreZero() {
        try (BufferBuilder builder = BufferBuilder.create(TINY)) {
            BuilderDirectBuffer buffer = BuilderDirectBuffer.of(builder);
            buffer.putByte(20, (byte) 1);
            buffer.checkLimit(30);
            builder.putByte((byte) 2);
            assertEquals(31, buffer.capacity());
            buffer.putBytes(24, buffer, 18, 4);
            byte[] expected = new byte[31];
            expected[20] = 1;
            expected[26] = 1;
            expected[30] = 2;
            try (SealedBuffer sealed = builder.seal()) {
                assertArrayEquals(expected, sealed.toByteArray());
            }
        }
    }
}
