// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.iovec.Generation.End;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A record reads what its vector reads, wherever regions end and whatever guards them.
class RecordViewTest {

    private static final int SIZE = 61;
    private static final byte[] BYTES = new byte[SIZE];

    static {
        for (int i = 0; i < SIZE; i++) {
            BYTES[i] = (byte) (i * 37 + 11);
        }
    }

    static Stream<IoVec> vectors() {
        List<IoVec> all = new ArrayList<>();
        for (IoVec plain : List.of(cut(SIZE), cut(20), cut(3), cut(1))) {
            all.add(plain);
            all.add(plain.stamped(new Generation()));
            all.add(plain.stamped(new Generation()).stamped(new Generation()));
            all.add(plain.keeping("a holder"));
            all.add(plain.stamped(new Generation()).keeping("a holder"));
        }
        return all.stream();
    }

    private static IoVec cut(int step) {
        List<MemorySegment> parts = new ArrayList<>();
        for (int from = 0; from < SIZE; from += step) {
            parts.add(MemorySegment.ofArray(BYTES).asSlice(from, Math.min(step, SIZE - from)));
        }
        return IoVec.of(parts.toArray(MemorySegment[]::new));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void readsWhatTheVectorReads(IoVec vec) {
        for (int from = 0; from + 24 <= SIZE; from++) {
            for (RecordView record :
                    List.of(vec.record(from, 24), vec.record(from, 24).lent())) {
                assertEquals(24, record.byteSize());
                for (int at = 0; at <= 16; at++) {
                    int offset = from + at;
                    assertEquals(vec.getByte(offset), record.getByte(at));
                    assertEquals(vec.getShort(offset), record.getShort(at));
                    assertEquals(vec.getInt(offset), record.getInt(at));
                    assertEquals(vec.getLong(offset), record.getLong(at));
                    for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
                        assertEquals(vec.getShort(offset, order), record.getShort(at, order));
                        assertEquals(vec.getInt(offset, order), record.getInt(at, order));
                        assertEquals(vec.getLong(offset, order), record.getLong(at, order));
                    }
                    assertEquals(Float.intBitsToFloat(vec.getInt(offset)), record.getFloat(at));
                    assertEquals(Double.longBitsToDouble(vec.getLong(offset)), record.getDouble(at));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void readsRunsWithTheirBoundsOnBothSides(IoVec vec) {
        ByteBuffer expected = ByteBuffer.wrap(BYTES, 5, 48).slice();
        RecordView record = vec.record(5, 48);
        byte[] bytes = new byte[50];
        record.getBytes(1, bytes, 2, 47);
        byte[] wanted = new byte[50];
        expected.get(1, wanted, 2, 47);
        assertArrayEquals(wanted, bytes);
        short[] shorts = new short[25];
        record.getShorts(0, shorts, 1, 24);
        int[] ints = new int[12];
        record.getInts(4, ints, 0, 11);
        long[] longs = new long[6];
        record.getLongs(0, longs, 0, 6);
        for (int i = 0; i < 24; i++) {
            assertEquals(expected.getShort(2 * i), shorts[i + 1]);
        }
        for (int i = 0; i < 11; i++) {
            assertEquals(expected.getInt(4 + 4 * i), ints[i]);
        }
        for (int i = 0; i < 6; i++) {
            assertEquals(expected.getLong(8 * i), longs[i]);
        }
        assertThrows(IndexOutOfBoundsException.class, () -> record.getInts(4, ints, 0, 12));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getInts(0, ints, 1, 12));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getShorts(-1, shorts, 0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getLongs(41, longs, 0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getBytes(0, bytes, 0, -1));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void endsWhereItEnds(IoVec vec) {
        RecordView record = vec.record(10, 8);
        assertThrows(IndexOutOfBoundsException.class, () -> record.getByte(8));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getByte(-1));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getShort(7));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getInt(5));
        assertThrows(IndexOutOfBoundsException.class, () -> record.getLong(1));
        assertThrows(IndexOutOfBoundsException.class, () -> vec.record(SIZE - 7, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> vec.record(-1, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> vec.record(0, -1));
        assertEquals(0, vec.record(SIZE, 0).byteSize());
    }

    @Test
    void everyReadLooksAtEachStamp() {
        for (int ended = 0; ended < 3; ended++) {
            Generation[] stamps = {new Generation(), new Generation(), new Generation()};
            IoVec vec = cut(SIZE).stamped(stamps[0]).stamped(stamps[1]).stamped(stamps[2]);
            RecordView record = vec.record(0, 16);
            record.getInt(0);
            RecordView lent = record.lent();
            stamps[ended].end();
            assertStale(record);
            lent.getInt(0);
            assertStale(vec.record(0, 16));
        }
        Generation only = new Generation();
        RecordView record = cut(SIZE).stamped(only).record(0, 16);
        only.end();
        assertStale(record);
    }

    private static void assertStale(RecordView record) {
        assertThrows(IllegalStateException.class, () -> record.getByte(0));
        assertThrows(IllegalStateException.class, () -> record.getShort(0));
        assertThrows(IllegalStateException.class, () -> record.getInt(0));
        assertThrows(IllegalStateException.class, () -> record.getLong(0));
        assertThrows(IllegalStateException.class, () -> record.getInts(0, new int[4], 0, 4));
        assertThrows(IllegalStateException.class, () -> record.getBytes(0, new byte[4], 0, 4));
        assertThrows(IllegalStateException.class, record::lent);
        IllegalStateException stale = assertThrows(IllegalStateException.class, record::verify);
        assertEquals("stale view: its memory was given back: byteSize=16", stale.getMessage());
    }

    @Test
    void readsOfARecordGiveNothingOut() {
        Generation stamp = new Generation();
        RecordView record = cut(SIZE).stamped(stamp).record(0, 16);
        record.lent().getInt(0);
        record.getInts(0, new int[4], 0, 4);
        assertEquals(End.FREE, stamp.end());
    }

    @Test
    void recordIsNoLargerThanAnIntCounts(@TempDir Path folder) throws IOException {
        try (FileChannel sparse =
                        FileChannel.open(folder.resolve("sparse"), CREATE_NEW, READ, WRITE, StandardOpenOption.SPARSE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment large = sparse.map(MapMode.READ_WRITE, 0, 1L << 31, arena);
            IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> RecordView.of(large));
            assertEquals("a record of so many bytes: byteSize=2147483648", refused.getMessage());
        }
    }
}
