// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The contract, over vectors with a past. Each holds the bytes 0, 1, 2 ... 39.
class IoVecTest {

    private static final int SIZE = 40;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    static Stream<IoVec> vectors() {
        return Stream.of(
                cut(SIZE),
                cut(1),
                cut(7),
                cut(3).slice(0, SIZE),
                IoVec.concat(cut(5).slice(0, 13), IoVec.empty(), cut(9).slice(13, SIZE - 13)),
                IoVec.of(heap(0, 11), heap(11, SIZE - 11)),
                IoVec.concat(IoVec.of(heap(0, 1)), cut(2).slice(1, SIZE - 1)));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void sliceAtEveryCutSharesTheBytes(IoVec vector) {
        for (int from = 0; from <= SIZE; from++) {
            for (int length = 0; length <= SIZE - from; length++) {
                IoVec slice = vector.slice(from, length);
                assertEquals(length, slice.byteSize());
                for (int i = 0; i < length; i++) {
                    assertEquals(from + i, slice.get(ValueLayout.JAVA_BYTE, i));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void typedReadsCrossBorders(IoVec vector) {
        ByteBuffer expected = heap(0, SIZE).asByteBuffer();
        for (int at = 0; at <= SIZE - Integer.BYTES; at++) {
            assertEquals(expected.getInt(at), vector.get(INT, at));
        }
        for (int at = 0; at <= SIZE - Long.BYTES; at++) {
            assertEquals(expected.getLong(at), vector.get(LONG, at));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> vector.get(INT, SIZE - 3));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.get(LONG, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.get(ValueLayout.JAVA_BYTE, SIZE));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void typedReadsAreBigEndianOrAsAskedFor(IoVec vector) {
        ByteBuffer expected = heap(0, SIZE).asByteBuffer();
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            expected.order(order);
            for (int at = 0; at <= SIZE - Long.BYTES; at++) {
                assertEquals(expected.get(at), vector.getByte(at));
                assertEquals(expected.getShort(at), vector.getShort(at, order));
                assertEquals(expected.getInt(at), vector.getInt(at, order));
                assertEquals(expected.getLong(at), vector.getLong(at, order));
                assertEquals(expected.getFloat(at), vector.getFloat(at, order));
                assertEquals(expected.getDouble(at), vector.getDouble(at, order));
            }
        }
        for (int at = 0; at <= SIZE - Long.BYTES; at++) {
            assertEquals(expected.getShort(at), vector.getShort(at));
            assertEquals(expected.getInt(at), vector.getInt(at));
            assertEquals(expected.getLong(at), vector.getLong(at));
            assertEquals(expected.getFloat(at), vector.getFloat(at));
            assertEquals(expected.getDouble(at), vector.getDouble(at));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> vector.getShort(SIZE - 1));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.getInt(-1));
        assertThrows(NullPointerException.class, () -> vector.getInt(0, null));
    }

    @Test
    void emptyVectorRefusesWhatAnotherOneDoes() {
        for (IoVec vector : new IoVec[] {IoVec.empty(), cut(7)}) {
            assertThrows(
                    NullPointerException.class, () -> vector.asInputStream().transferTo(null));
            assertEquals(
                    "read into a read-only buffer: remaining=4",
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> vector.asChannel()
                                            .read(ByteBuffer.allocate(4).asReadOnlyBuffer()))
                            .getMessage());
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void rangesOutsideAreRefusedWithTheirNumbers(IoVec vector) {
        assertEquals(
                "slice past the end: offset=30 length=11 byteSize=40",
                assertThrows(IndexOutOfBoundsException.class, () -> vector.slice(30, 11))
                        .getMessage());
        assertThrows(IndexOutOfBoundsException.class, () -> vector.slice(-1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.slice(1, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.slice(1, Long.MAX_VALUE));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void viewsAreFreshReadOnlyAndWhole(IoVec vector) {
        ByteBuffer[] views = vector.asByteBuffers();
        int at = 0;
        for (ByteBuffer view : views) {
            assertTrue(view.isReadOnly());
            while (view.hasRemaining()) {
                assertEquals(at++, view.get());
            }
        }
        assertEquals(SIZE, at);
        ByteBuffer[] again = vector.asByteBuffers();
        assertNotSame(views[0], again[0]);
        assertEquals(0, again[0].position());
        assertThrows(IllegalArgumentException.class, () -> vector.region(0).set(ValueLayout.JAVA_BYTE, 0, (byte) 1));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void copyMovesTheRangeAndIsCounted(IoVec vector) {
        CopyTally before = CopyTally.snapshot();
        MemorySegment target = MemorySegment.ofArray(new byte[20]);
        vector.copyTo(15, target, 20);
        assertEquals(-1, IoVec.of(target).mismatch(vector.slice(15, 20)));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.copyTo(0, target, 21));
        assertThrows(IndexOutOfBoundsException.class, () -> vector.copyTo(30, target, 11));
        assertEquals(new CopyTally(1, 20), CopyTally.snapshot().since(before));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void equalsAndHashesByContent(IoVec vector) {
        byte[] bytes = heap(0, SIZE).toArray(ValueLayout.JAVA_BYTE);
        assertEquals(cut(SIZE), vector);
        assertEquals(Arrays.hashCode(bytes), vector.hashCode());
        assertEquals(vector, vector.keeping(new Object()));
        assertNotEquals(vector, vector.slice(1, SIZE - 1));
        assertNotEquals(vector, "IoVec");
        assertEquals(1, IoVec.empty().hashCode());
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void streamsFromEveryOffset(IoVec vector) throws IOException {
        byte[] bytes = heap(0, SIZE).toArray(ValueLayout.JAVA_BYTE);
        for (int from = 0; from <= SIZE; from++) {
            try (InputStream stream = vector.asInputStream()) {
                assertEquals(from, stream.skip(from));
                assertEquals(SIZE - from, stream.available());
                stream.mark(0);
                assertEquals(from == SIZE ? -1 : bytes[from], stream.read());
                stream.reset();
                ByteArrayOutputStream rest = new ByteArrayOutputStream();
                assertEquals(SIZE - from, stream.transferTo(rest));
                assertArrayEquals(Arrays.copyOfRange(bytes, from, SIZE), rest.toByteArray());
                assertEquals(-1, stream.read());
                assertEquals(-1, stream.read(new byte[1]));
                assertEquals(0, stream.read(new byte[0]));
                assertEquals(0, stream.skip(1));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void channelsInSteps(IoVec vector) throws IOException {
        ReadableByteChannel channel = vector.asChannel();
        ByteBuffer target = ByteBuffer.allocateDirect(SIZE + 1);
        for (int at = 0; at < SIZE; at += 8) {
            target.limit(at + 8);
            assertEquals(8, channel.read(target));
        }
        target.limit(SIZE + 1);
        assertEquals(-1, channel.read(target));
        assertEquals(vector, IoVec.of(MemorySegment.ofBuffer(target.flip())));
        channel.close();
        assertThrows(ClosedChannelException.class, () -> channel.read(target));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void becomesOneSegmentOnlyWhenAsked(IoVec vector) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = vector.toSegment(arena);
            assertTrue(copy.isReadOnly());
            assertEquals(vector, IoVec.of(copy));
            if (vector.regionCount() == 1) {
                assertEquals(vector.region(0), vector.asSegment());
            } else {
                assertEquals(
                        "bytes lie in several regions: regions=" + vector.regionCount() + " byteSize=40",
                        assertThrows(IllegalArgumentException.class, vector::asSegment)
                                .getMessage());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void mismatchIgnoresTheCuts(IoVec vector) {
        assertEquals(-1, vector.mismatch(IoVec.of(heap(0, SIZE))));
        assertEquals(SIZE - 1, vector.mismatch(IoVec.of(heap(0, SIZE - 1))));
        assertEquals(0, vector.mismatch(IoVec.empty()));
        for (int at = 0; at < SIZE; at++) {
            MemorySegment other = heap(0, SIZE);
            other.set(ValueLayout.JAVA_BYTE, at, (byte) -1);
            assertEquals(at, vector.mismatch(IoVec.of(other)));
            assertEquals(at, IoVec.of(other).mismatch(vector));
        }
    }

    @Test
    void everyByteLiesInOneRegion() {
        IoVec many = IoVec.concat(IoVec.of(heap(0, 3)), IoVec.of(heap(0, 1)), IoVec.of(heap(0, 4)));
        int[] regions = {0, 0, 0, 1, 2, 2, 2, 2};
        for (IoVec each : new IoVec[] {many, many.keeping(this), IoVec.of(heap(0, 8))}) {
            for (int offset = 0; offset < 8; offset++) {
                int index = each.regionAt(offset);
                assertEquals(each.regionCount() == 1 ? 0 : regions[offset], index);
                long start = each.regionStart(index);
                assertTrue(
                        start <= offset && offset < start + each.region(index).byteSize());
            }
            assertEquals(0, each.regionStart(0));
            for (long none : new long[] {-1, 8, Long.MIN_VALUE, Long.MAX_VALUE}) {
                assertThrows(IndexOutOfBoundsException.class, () -> each.regionAt(none));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> each.regionStart(each.regionCount()));
            assertThrows(IndexOutOfBoundsException.class, () -> each.regionStart(-1));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> IoVec.empty().regionAt(0));
    }

    @Test
    void emptyPartsVanish() {
        IoVec empty = IoVec.of(heap(0, 0), heap(0, 0));
        assertEquals(0, empty.byteSize());
        assertEquals(0, empty.regionCount());
        assertEquals(0, empty.asByteBuffers().length);
        assertEquals(-1, empty.mismatch(IoVec.empty()));
        assertThrows(IndexOutOfBoundsException.class, () -> empty.region(0));
        assertEquals(1, IoVec.concat(empty, IoVec.of(heap(0, 3)), empty).regionCount());
    }

    /// Native regions of `step` bytes, each at an odd address.
    private static IoVec cut(int step) {
        MemorySegment[] regions = new MemorySegment[(SIZE + step - 1) / step];
        for (int i = 0; i < regions.length; i++) {
            int length = Math.min(step, SIZE - i * step);
            regions[i] = Arena.ofAuto().allocate(length + 1, 8).asSlice(1);
            for (int n = 0; n < length; n++) {
                regions[i].set(ValueLayout.JAVA_BYTE, n, (byte) (i * step + n));
            }
        }
        return IoVec.of(regions);
    }

    private static MemorySegment heap(int from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (from + i);
        }
        return MemorySegment.ofArray(bytes);
    }
}
