// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What a person asks a buffer: its bytes, its text, whether it is like another one, where something lies in it.
class ContentTest {

    @ParameterizedTest
    @EnumSource
    void bytesAndTextAreCopies(Past past) {
        byte[] bytes = "clay tokens: größer".getBytes(StandardCharsets.UTF_8);
        try (SealedBuffer buffer = past.of(bytes)) {
            byte[] copy = buffer.toByteArray();
            copy[0] = 0;
            assertArrayEquals(bytes, buffer.toByteArray());
            assertEquals("clay tokens: größer", buffer.toString(StandardCharsets.UTF_8));
            assertThrows(NullPointerException.class, () -> buffer.toString(null));
        }
    }

    @ParameterizedTest
    @EnumSource
    void contentIsComparedHoweverItIsCut(Past past) {
        byte[] bytes = Bytes.numbered(100);
        byte[] larger = bytes.clone();
        larger[60] = (byte) 0xff;
        try (SealedBuffer buffer = past.of(bytes);
                SealedBuffer same = Past.cut(9, bytes);
                SealedBuffer other = Past.cut(11, larger);
                SealedBuffer prefix = buffer.slice(0, 99)) {
            assertTrue(buffer.contentEquals(same));
            assertEquals(-1, buffer.mismatch(same));
            assertEquals(0, buffer.compareContent(same));
            assertFalse(buffer.contentEquals(other));
            assertEquals(60, buffer.mismatch(other));
            assertTrue(buffer.compareContent(other) < 0, "0x3c is less than 0xff, unsigned");
            assertTrue(other.compareContent(buffer) > 0);
            assertFalse(buffer.contentEquals(prefix));
            assertEquals(99, buffer.mismatch(prefix));
            assertTrue(buffer.compareContent(prefix) > 0);
            assertTrue(prefix.compareContent(buffer) < 0);
        }
    }

    @Test
    void firstByteMayBeTheOneThatDiffers() {
        try (SealedBuffer one = Past.cut(2, new byte[] {1, 2, 3});
                SealedBuffer other = Past.cut(2, new byte[] {0, 2, 3})) {
            assertFalse(one.contentEquals(other));
            assertEquals(0, one.mismatch(other));
        }
    }

    @ParameterizedTest
    @EnumSource
    void runsAreFoundAcrossRegions(Past past) {
        byte[] bytes = Bytes.numbered(300);
        try (SealedBuffer buffer = past.of(bytes)) {
            assertEquals(7, buffer.indexOf((byte) 7));
            assertEquals(263, buffer.indexOf(8, (byte) 7));
            assertEquals(-1, buffer.indexOf(264, (byte) 7));
            assertEquals(15, buffer.indexOf((byte) 15, (byte) 16, (byte) 17, (byte) 18, (byte) 19));
            assertEquals(-1, buffer.indexOf((byte) 15, (byte) 17));
            assertEquals(298, buffer.indexOf(298, (byte) 42, (byte) 43));
            assertEquals(-1, buffer.indexOf(299, (byte) 43, (byte) 44));
            assertEquals(300, buffer.indexOf(300));
            assertEquals(-1, buffer.indexOf(300, (byte) 0));
            assertEquals(-1, buffer.indexOf(new byte[301]));
            assertEquals(
                    "search past the end: offset=301 length=0 byteSize=300",
                    assertThrows(IndexOutOfBoundsException.class, () -> buffer.indexOf(301))
                            .getMessage());
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.indexOf(-1, (byte) 1));
        }
    }

    @Property(tries = 300)
    void runsAreFoundWhereTextIs(
            @ForAll @Size(max = 60) List<@IntRange(min = 0, max = 2) Integer> letters,
            @ForAll @Size(max = 4) List<@IntRange(min = 0, max = 2) Integer> wanted,
            @ForAll @IntRange(min = 1, max = 20) int regionSize,
            @ForAll @IntRange(min = 0, max = 60) int from) {
        String text = text(letters);
        String run = text(wanted);
        int start = Math.min(from, text.length());
        try (SealedBuffer buffer = Past.cut(regionSize, text.getBytes(StandardCharsets.US_ASCII))) {
            assertEquals(text.indexOf(run, start), buffer.indexOf(start, run.getBytes(StandardCharsets.US_ASCII)));
        }
    }

    private static String text(List<Integer> letters) {
        StringBuilder text = new StringBuilder();
        letters.forEach(letter -> text.append((char) ('a' + letter)));
        return text.toString();
    }

    /// What `xxd` printed for the same bytes.
    @ParameterizedTest
    @EnumSource
    void dumpIsThatOfXxd(Past past) {
        byte[] bytes = Arrays.copyOf(Bytes.numbered(35), 43);
        System.arraycopy("Bulla ~\u007f".getBytes(StandardCharsets.ISO_8859_1), 0, bytes, 35, 8);
        try (SealedBuffer buffer = past.of(bytes)) {
            assertEquals("""
                    00000000: 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................
                    00000010: 1011 1213 1415 1617 1819 1a1b 1c1d 1e1f  ................
                    00000020: 2021 2242 756c 6c61 207e 7f               !"Bulla ~.
                    """, buffer.hexDump());
        }
    }

    @Test
    void emptyBufferIsAnEmptyText() {
        try (ArenaSource source = ArenaSource.create();
                SealedBuffer empty = BufferBuilder.create(source).seal()) {
            assertEquals("", empty.hexDump());
            assertEquals(0, empty.toByteArray().length);
            assertEquals(0, empty.indexOf());
            assertEquals(-1, empty.indexOf((byte) 0));
            assertEquals(0, empty.compareContent(empty));
        }
    }

    @Test
    void closedHandleAnswersNothing() {
        try (ArenaSource source = ArenaSource.create();
                SealedBuffer open = Bytes.sealed(source, 4)) {
            SealedBuffer closed = open.share();
            closed.close();
            for (Runnable use : List.<Runnable>of(
                    closed::toByteArray,
                    () -> closed.toString(StandardCharsets.UTF_8),
                    closed::hexDump,
                    () -> closed.contentEquals(open),
                    () -> open.contentEquals(closed),
                    () -> closed.mismatch(open),
                    () -> open.compareContent(closed),
                    () -> closed.indexOf((byte) 1))) {
                assertThrows(ReleasedBufferException.class, use::run);
            }
        }
    }

    @Test
    void moreThanAnArrayHoldsIsRefusedByNumber() {
        try (Arena arena = Arena.ofShared();
                SealedBuffer one = SealedBuffer.adopt(arena.allocate(1 << 20), () -> {})) {
            SealedBuffer[] parts = new SealedBuffer[2048];
            Arrays.fill(parts, one);
            try (SealedBuffer huge = SealedBuffer.concat(parts)) {
                String message = "more bytes than an array holds: byteSize=2147483648 limit=2147483639";
                assertEquals(
                        message,
                        assertThrows(IllegalArgumentException.class, huge::toByteArray)
                                .getMessage());
                assertEquals(
                        message,
                        assertThrows(
                                        IllegalArgumentException.class,
                                        () -> BufferReader.of(huge).getBytes(1L << 31))
                                .getMessage());
                assertEquals(2147483639, SealedBuffer.arraySize(2147483639), "as many as one holds");
            }
        }
    }

    @Test
    void descriptionsSayTheValues() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        try (ArenaSource source =
                ArenaSource.builder().budget(budget).chunkBytes(1 << 18).build()) {
            BufferBuilder builder = BufferBuilder.create(source).putInt(1);
            assertEquals("BufferBuilder[byteSize=4 regions=1 room=252]", builder.toString());
            assertEquals("MemoryBudget[used=262144 limit=1048576 peak=262144]", budget.toString());
            assertEquals("ArenaSource[FAST openChunks=1 chunkBytes=262144 " + budget + "]", source.toString());
            builder.close();
            assertEquals("BufferBuilder[abandoned byteSize=4]", builder.toString());
        }
    }
}
