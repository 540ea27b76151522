// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.CopyTally;
import io.bulla.iovec.Generation;
import io.bulla.iovec.RecordView;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The contract, over buffers with a past.
class BufferReaderTest {

    private static final int SIZE = 300;

    @ParameterizedTest
    @EnumSource
    void everyValueOfTheBuilderIsReadBack(Past past) {
        byte[] written;
        try (ArenaSource source = ArenaSource.create();
                SealedBuffer message = everyPut(BufferBuilder.create(source)).seal()) {
            written = message.toByteArray();
        }
        try (SealedBuffer buffer = past.of(written)) {
            BufferReader reader = BufferReader.of(buffer);
            assertEquals(-5, reader.getByte());
            assertEquals(251, reader.getUnsignedByte());
            assertEquals(-2, reader.getShort());
            assertEquals(0xfffe, reader.getUnsignedShort());
            assertEquals(0x0102, reader.getShort(LITTLE_ENDIAN));
            assertEquals(0xfffe, reader.getUnsignedShort(LITTLE_ENDIAN));
            assertEquals(5, reader.getInt());
            assertEquals(0xffff_fffeL, reader.getUnsignedInt());
            assertEquals(0x01020304, reader.getInt(LITTLE_ENDIAN));
            assertEquals(0xffff_fffeL, reader.getUnsignedInt(LITTLE_ENDIAN));
            assertEquals(Long.MIN_VALUE + 1, reader.getLong());
            assertEquals(0x0102030405060708L, reader.getLong(LITTLE_ENDIAN));
            assertEquals(1.5f, reader.getFloat());
            assertEquals(-0.0f, reader.getFloat(LITTLE_ENDIAN));
            assertEquals(Math.PI, reader.getDouble());
            assertEquals(Double.NEGATIVE_INFINITY, reader.getDouble(LITTLE_ENDIAN));
            assertEquals("Schlüßel €", reader.getString(14, StandardCharsets.UTF_8));
            assertEquals("ab", reader.getString(4, StandardCharsets.UTF_16BE));
            short[] shorts = new short[3];
            int[] ints = new int[3];
            long[] longs = new long[3];
            reader.getShorts(shorts, 0, 3).getInts(ints, 0, 3).getLongs(longs, 0, 3);
            assertArrayEquals(new short[] {1, -2, 3}, shorts);
            assertArrayEquals(new int[] {1, -2, 3}, ints);
            assertArrayEquals(new long[] {1, -2, 3}, longs);
            assertFalse(reader.hasRemaining());
        }
    }

    private static BufferBuilder everyPut(BufferBuilder builder) {
        return builder.putByte((byte) -5)
                .putByte((byte) -5)
                .putShort((short) -2)
                .putShort((short) -2)
                .putShort((short) 0x0102, LITTLE_ENDIAN)
                .putShort((short) -2, LITTLE_ENDIAN)
                .putInt(5)
                .putInt(-2, BIG_ENDIAN)
                .putInt(0x01020304, LITTLE_ENDIAN)
                .putInt(-2, LITTLE_ENDIAN)
                .putLong(Long.MIN_VALUE + 1)
                .putLong(0x0102030405060708L, LITTLE_ENDIAN)
                .putFloat(1.5f)
                .putFloat(-0.0f, LITTLE_ENDIAN)
                .putDouble(Math.PI)
                .putDouble(Double.NEGATIVE_INFINITY, LITTLE_ENDIAN)
                .putString("Schlüßel €", StandardCharsets.UTF_8)
                .putString("ab", StandardCharsets.UTF_16BE)
                .putShorts(new short[] {1, -2, 3}, 0, 3)
                .putInts(new int[] {1, -2, 3}, 0, 3)
                .putLongs(new long[] {1, -2, 3}, 0, 3);
    }

    @ParameterizedTest
    @EnumSource
    void valuesAtEveryPositionAreThoseOfAByteBuffer(Past past) {
        ByteBuffer expected = ByteBuffer.wrap(Bytes.numbered(SIZE));
        try (SealedBuffer buffer = past.of(expected.array())) {
            BufferReader reader = BufferReader.of(buffer);
            for (ByteOrder order : List.of(BIG_ENDIAN, LITTLE_ENDIAN)) {
                expected.order(order);
                // back and forth, so that each comes from another region than the last one
                for (int i = 0; i <= SIZE - Long.BYTES; i++) {
                    int at = i % 2 == 0 ? i : SIZE - Long.BYTES - i;
                    assertEquals(expected.get(at), reader.position(at).getByte());
                    assertEquals(expected.getShort(at), reader.position(at).getShort(order));
                    assertEquals(expected.getInt(at), reader.position(at).getInt(order));
                    assertEquals(expected.getLong(at), reader.position(at).getLong(order));
                    assertEquals(at + Long.BYTES, reader.position());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void readPastTheLimitLeavesThePositionAndSaysTheNumbers(Past past) {
        // there are more bytes than may be read
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE + 20))) {
            BufferReader reader = BufferReader.of(buffer).skip(SIZE - 1).limit(SIZE);
            for (Consumer<BufferReader> get : List.<Consumer<BufferReader>>of(
                    BufferReader::getShort,
                    BufferReader::getInt,
                    BufferReader::getLong,
                    BufferReader::getFloat,
                    r -> r.getLong(LITTLE_ENDIAN),
                    r -> r.get(new byte[2]),
                    r -> r.getBytes(2),
                    r -> r.getBytes(-1),
                    r -> r.getBytes(Long.MAX_VALUE),
                    r -> r.getString(2, StandardCharsets.UTF_8),
                    r -> r.getShorts(new short[1], 0, 1),
                    r -> r.getInts(new int[1], 0, 1),
                    r -> r.getLongs(new long[1], 0, 1),
                    r -> r.record(2),
                    r -> r.record(-1),
                    r -> r.skip(2),
                    r -> r.skip(-1),
                    r -> r.slice(2),
                    r -> r.slice(1000),
                    r -> r.slice(-1),
                    r -> r.share(2),
                    r -> r.share(1000))) {
                String message = messageOf(() -> get.accept(reader));
                assertTrue(message.startsWith("read past the limit: position=299 length="), message);
                assertEquals(SIZE - 1, reader.position());
            }
            assertEquals("read past the limit: position=299 length=4 limit=300", messageOf(reader::getInt));
            assertEquals((byte) (SIZE - 1), reader.getByte());
            assertEquals("read past the limit: position=300 length=1 limit=300", messageOf(reader::getByte));
        }
    }

    @ParameterizedTest
    @EnumSource
    void recordIsAViewOfTheNextBytesWhichItsReaderPasses(Past past) {
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer);
            for (int at = 0; at <= SIZE - 7; at += 7) {
                RecordView record = reader.record(7);
                assertEquals(at + 7, reader.position());
                assertEquals(7, record.byteSize());
                for (int i = 0; i < 7; i++) {
                    assertEquals((byte) (at + i), record.getByte(i));
                }
            }
            assertEquals(SIZE % 7, reader.record(SIZE % 7).byteSize());
            assertEquals(0, reader.record(0).byteSize());
            assertEquals(SIZE, reader.position());
        }
    }

    /// What it has at hand stays readable to move in; what it would have to look for is gone.
    @ParameterizedTest
    @EnumSource(names = {"ONE_REGION", "REGIONS_OF_THREE_BYTES", "CHECKED"})
    void readerOfAClosedHandleMovesWithinItsRegionAlone(Past past) {
        SealedBuffer buffer = past.of(Bytes.numbered(SIZE));
        BufferReader reader = BufferReader.of(buffer).skip(3);
        buffer.close();
        assertEquals(3, reader.position(3).position());
        switch (past) {
            case ONE_REGION -> {
                assertEquals(0, reader.position(0).position());
                assertEquals(SIZE, reader.position(SIZE).position());
            }
            default -> {
                for (long elsewhere : new long[] {4, 150, SIZE}) {
                    assertThrows(ReleasedBufferException.class, () -> reader.position(elsewhere));
                    assertEquals(3, reader.position());
                }
            }
        }
    }

    /// Counts handles, and does something once when it hears of one.
    private static final class Counting implements LeaseTrace {

        private int opened;
        private int closed;
        private Runnable then;

        @Override
        public Object opened(Lease lease, RefCount count, Object tag) {
            opened++;
            Runnable now = then;
            then = null;
            if (now != null) {
                now.run();
            }
            return this;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            closed++;
        }
    }

    @Test
    void shareThatIsRefusedTakesNoHandleOrGivesItBack() {
        Counting handles = new Counting();
        try (ArenaSource source = ArenaSource.create(MemoryBudget.ofProcess(), handles)) {
            SealedBuffer buffer = Bytes.sealed(source, SIZE);
            BufferReader reader = BufferReader.of(buffer).skip(10).limit(12);
            assertEquals("read past the limit: position=10 length=3 limit=12", messageOf(() -> reader.share(3)));
            assertEquals(1, handles.opened);
            handles.then = buffer::close;
            assertThrows(ReleasedBufferException.class, () -> reader.share(2));
            assertEquals(2, handles.opened);
            assertEquals(2, handles.closed);
        }
    }

    /// A view of a record is a view of its buffer: a ledger may not heal beneath it.
    @Test
    void recordKeepsAHandleThatMayBeHealed() {
        try (ArenaSource source = ArenaSource.create(MemoryBudget.ofProcess(), LeaseLedger.full())) {
            List<WeakReference<SealedBuffer>> forgotten = new ArrayList<>();
            RecordView record = recordOfAForgottenOne(source, forgotten);
            for (int i = 0; i < 3; i++) {
                System.gc();
                assertNotNull(forgotten.getFirst().get());
            }
            assertEquals(0x00010203, record.getInt(0));
            forgotten.getFirst().get().close();
        }
    }

    private static RecordView recordOfAForgottenOne(MemorySource source, List<WeakReference<SealedBuffer>> handles) {
        SealedBuffer buffer = Bytes.sealed(source, SIZE);
        handles.add(new WeakReference<>(buffer));
        return BufferReader.of(buffer).record(8);
    }

    @ParameterizedTest
    @EnumSource
    void limitEndsAPartAndCanBeTakenBack(Past past) {
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer).skip(16).limit(22);
            assertEquals(6, reader.remaining());
            assertEquals(0x10111213, reader.getInt());
            assertEquals("read past the limit: position=20 length=4 limit=22", messageOf(reader::getInt));
            assertEquals(0x1415, reader.getShort());
            assertFalse(reader.hasRemaining());
            reader.limit(SIZE);
            assertEquals(0x16171819, reader.getInt());
            assertEquals(SIZE, reader.limit());
        }
    }

    @ParameterizedTest
    @EnumSource
    void positionsAndMarksGoAnywhereWithinTheLimit(Past past) {
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer);
            assertEquals(0x00010203, reader.skip(200).reset().getInt());
            assertEquals(0x04050607, reader.mark().skip(250).reset().getInt());
            assertEquals(0, reader.position(SIZE).remaining());
            assertEquals(0, reader.position(0).getByte());
            assertEquals("position past the limit: position=301 limit=300", refusal(() -> reader.position(SIZE + 1)));
            assertEquals("position past the limit: position=-1 limit=300", refusal(() -> reader.position(-1)));
            assertEquals(
                    "limit outside of what is left: limit=0 position=1 byteSize=300", refusal(() -> reader.limit(0)));
            assertEquals(
                    "limit outside of what is left: limit=301 position=1 byteSize=300",
                    refusal(() -> reader.limit(301)));
            assertEquals(1, reader.position());
        }
    }

    @ParameterizedTest
    @EnumSource
    void slicesReadAndSharesKeepTheirPart(Past past) {
        SealedBuffer kept;
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer).skip(10);
            BufferReader part = reader.slice(20);
            BufferReader inner = part.skip(5).slice(6);
            assertEquals(30, reader.position());
            assertEquals(0x0f101112, inner.getInt());
            assertEquals("read past the limit: position=4 length=4 limit=6", messageOf(inner::getInt));
            try (SealedBuffer shared = inner.share(2)) {
                assertArrayEquals(new byte[] {0x13, 0x14}, shared.toByteArray());
            }
            assertEquals(0, reader.slice(0).limit());
            kept = reader.share(40);
            assertEquals(70, reader.position());
        }
        try (kept) {
            assertEquals(0x1e1f2021, BufferReader.of(kept).getInt());
        }
    }

    @ParameterizedTest
    @EnumSource
    void runsAreCopiedAcrossRegionsAndCounted(Past past) {
        byte[] bytes = Bytes.numbered(SIZE);
        try (SealedBuffer buffer = past.of(bytes)) {
            BufferReader reader = BufferReader.of(buffer);
            CopyTally before = CopyTally.snapshot();
            byte[] all = new byte[SIZE];
            reader.get(all, 0, 100).get(MemorySegment.ofArray(all).asSlice(100, 100));
            System.arraycopy(reader.getBytes(100), 0, all, 200, 100);
            assertArrayEquals(bytes, all);
            assertEquals(new CopyTally(3, SIZE), CopyTally.snapshot().since(before));
            assertEquals("", reader.getString(0, StandardCharsets.UTF_8));
            assertEquals(SIZE, reader.position());
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyGetThrowsOnceTheHandleIsClosed(Past past) {
        SealedBuffer buffer = past.of(Bytes.numbered(SIZE));
        BufferReader reader = BufferReader.of(buffer);
        reader.getInt();
        try (SealedBuffer other = buffer.share()) {
            buffer.close();
            for (Runnable get : List.<Runnable>of(
                    reader::getByte,
                    reader::getShort,
                    reader::getInt,
                    reader::getLong,
                    reader::getDouble,
                    () -> reader.get(new byte[1]),
                    () -> reader.getBytes(1),
                    () -> reader.getString(1, StandardCharsets.UTF_8),
                    () -> reader.getShorts(new short[1], 0, 1),
                    () -> reader.getInts(new int[1], 0, 1),
                    () -> reader.getLongs(new long[1], 0, 1),
                    () -> reader.getShorts(new short[1], 0, 0),
                    () -> reader.getInts(new int[1], 0, 0),
                    () -> reader.getLongs(new long[1], 0, 0),
                    () -> reader.record(1),
                    () -> reader.skip(1),
                    () -> reader.slice(1),
                    () -> reader.share(1),
                    () -> BufferReader.of(buffer))) {
                assertEquals(
                        "buffer handle already closed: byteSize=300",
                        assertThrows(ReleasedBufferException.class, get::run).getMessage());
            }
            assertEquals("BufferReader[position=4 limit=300 closed]", reader.toString());
            assertEquals(SIZE, other.byteSize(), "another holder goes on");
        }
    }

    @ParameterizedTest
    @EnumSource(Past.class)
    void readsThatFillSomethingGiveTheirReaderBack(Past past) {
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer);
            for (UnaryOperator<BufferReader> each : List.<UnaryOperator<BufferReader>>of(
                    r -> r.getShorts(new short[1], 0, 1),
                    r -> r.getInts(new int[1], 0, 1),
                    r -> r.getLongs(new long[1], 0, 1),
                    r -> r.get(new byte[1]),
                    r -> r.get(new byte[1], 0, 1),
                    r -> r.get(MemorySegment.ofArray(new byte[1])),
                    r -> r.skip(1),
                    BufferReader::mark,
                    BufferReader::reset,
                    r -> r.position(100),
                    r -> r.limit(SIZE))) {
                assertSame(reader, each.apply(reader));
            }
        }
    }

    /// Behind a stamp, in parts with a look each; the position moves when all of them were read.
    @Test
    void longRunsBehindAStampAreWholeOrNotReadAtAll() {
        byte[] bytes = Bytes.numbered(8 * 20_001);
        ByteBuffer expected = ByteBuffer.wrap(bytes);
        Generation stamp = new Generation();
        try (SealedBuffer buffer = SealedBuffer.adopt(MemorySegment.ofArray(bytes), stamp, () -> {})) {
            BufferReader reader = BufferReader.of(buffer);
            long[] longs = new long[20_000];
            long[] foundLongs = new long[longs.length + 1];
            expected.position(1).asLongBuffer().get(longs);
            assertEquals(
                    1 + 8L * longs.length,
                    reader.skip(1).getLongs(foundLongs, 1, longs.length).position());
            assertArrayEquals(longs, Arrays.copyOfRange(foundLongs, 1, foundLongs.length));
            int[] ints = new int[40_000];
            int[] foundInts = new int[ints.length];
            expected.position(3).asIntBuffer().get(ints);
            assertEquals(
                    3 + 4L * ints.length,
                    reader.position(3).getInts(foundInts, 0, ints.length).position());
            assertArrayEquals(ints, foundInts);
            short[] shorts = new short[80_000];
            short[] foundShorts = new short[shorts.length];
            expected.position(5).asShortBuffer().get(shorts);
            assertEquals(
                    5 + 2L * shorts.length,
                    reader.position(5).getShorts(foundShorts, 0, shorts.length).position());
            assertArrayEquals(shorts, foundShorts);
            reader.position(7);
            stamp.end();
            assertThrows(IllegalStateException.class, () -> reader.getLongs(foundLongs, 0, 1));
            assertThrows(IllegalStateException.class, () -> reader.getInts(foundInts, 0, 9_000));
            assertThrows(IllegalStateException.class, () -> reader.getShorts(foundShorts, 0, 20_000));
            assertEquals(7, reader.position());
        }
    }

    /// Whatever is at the cuts: each run is read from each place, up to the limit and no further.
    @ParameterizedTest
    @EnumSource(Past.class)
    void runsOfValuesAreThoseOfAByteBuffer(Past past) {
        ByteBuffer expected = ByteBuffer.wrap(Bytes.numbered(SIZE));
        try (SealedBuffer buffer = past.of(expected.array())) {
            BufferReader reader = BufferReader.of(buffer);
            for (int at = 0; at <= SIZE; at += at < 40 ? 1 : 13) {
                for (int count : new int[] {0, 1, 5, (SIZE - at) / Long.BYTES}) {
                    if (count * Long.BYTES > SIZE - at) {
                        continue;
                    }
                    long[] longs = new long[count];
                    int[] ints = new int[count];
                    short[] shorts = new short[count];
                    expected.position(at).asLongBuffer().get(longs);
                    expected.asIntBuffer().get(ints);
                    expected.asShortBuffer().get(shorts);
                    long[] foundLongs = new long[count + 2];
                    int[] foundInts = new int[count + 2];
                    short[] foundShorts = new short[count + 2];
                    reader.limit(SIZE).position(at).limit(at + (long) count * Long.BYTES);
                    reader.getLongs(foundLongs, 1, count);
                    assertEquals(at + (long) count * Long.BYTES, reader.position());
                    reader.position(at).getInts(foundInts, 1, count);
                    assertEquals(at + (long) count * Integer.BYTES, reader.position());
                    reader.position(at).getShorts(foundShorts, 1, count);
                    assertEquals(at + (long) count * Short.BYTES, reader.position());
                    assertArrayEquals(longs, Arrays.copyOfRange(foundLongs, 1, count + 1));
                    assertArrayEquals(ints, Arrays.copyOfRange(foundInts, 1, count + 1));
                    assertArrayEquals(shorts, Arrays.copyOfRange(foundShorts, 1, count + 1));
                    assertEquals(0, foundLongs[0] | foundLongs[count + 1]);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Past.class)
    void runThatIsNotThereAsAWholeIsNotReadAtAll(Past past) {
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer).skip(SIZE - 20).limit(SIZE - 7);
            short[] shorts = new short[7];
            int[] ints = new int[4];
            long[] longs = new long[2];
            String rest = "read past the limit: position=280 length=%d limit=293";
            assertEquals(rest.formatted(14), messageOf(() -> reader.getShorts(shorts, 0, 7)));
            assertEquals(rest.formatted(16), messageOf(() -> reader.getInts(ints, 0, 4)));
            assertEquals(rest.formatted(16), messageOf(() -> reader.getLongs(longs, 0, 2)));
            assertEquals(280, reader.position());
            assertEquals(0, shorts[0] | ints[0] | longs[0]);
        }
    }

    /// The second region has room for more than what is left of the run.
    @Test
    void runEndsInTheMiddleOfALongRegionBehindAShortOne() {
        try (SealedBuffer left = Past.ONE_REGION.of((byte) 0, (byte) 1, (byte) 2);
                SealedBuffer right = Past.ONE_REGION.of(new byte[200]);
                SealedBuffer both = SealedBuffer.concat(left, right)) {
            BufferReader reader = BufferReader.of(both);
            short[] shorts = new short[3];
            int[] ints = new int[3];
            long[] longs = new long[3];
            assertEquals(6, reader.getShorts(shorts, 0, 3).position());
            assertEquals(12, reader.reset().getInts(ints, 0, 3).position());
            assertEquals(24, reader.reset().getLongs(longs, 0, 3).position());
            assertArrayEquals(new short[] {0x0001, 0x0200, 0}, shorts);
            assertArrayEquals(new int[] {0x00010200, 0, 0}, ints);
            assertArrayEquals(new long[] {0x00010200_00000000L, 0, 0}, longs);
        }
    }

    @Test
    void emptyBufferHasNothingToRead() {
        try (ArenaSource source = ArenaSource.create();
                SealedBuffer buffer = BufferBuilder.create(source).seal()) {
            BufferReader reader = BufferReader.of(buffer);
            assertEquals(0, reader.limit());
            assertArrayEquals(new byte[0], reader.getBytes(0));
            assertEquals(0, reader.position(0).skip(0).slice(0).remaining());
            assertEquals("read past the limit: position=0 length=1 limit=0", messageOf(reader::getByte));
            assertEquals("BufferReader[position=0 limit=0]", reader.toString());
        }
    }

    /// As it is where the heap is full.
    @ParameterizedTest
    @EnumSource(Past.class)
    void textThatCannotBeMadeLeavesThePositionWhereItWas(Past past) {
        try (SealedBuffer buffer = past.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer).skip(2);
            assertThrows(OutOfMemoryError.class, () -> reader.getString(200, new FullHeap()));
            assertEquals(2, reader.position());
            assertEquals(2, reader.getByte());
        }
    }

    /// A charset for whose decoder there is no room.
    private static final class FullHeap extends Charset {

        FullHeap() {
            super("x-full-heap", null);
        }

        @Override
        public boolean contains(Charset charset) {
            return false;
        }

        @Override
        public CharsetDecoder newDecoder() {
            throw new OutOfMemoryError("injected");
        }

        @Override
        public CharsetEncoder newEncoder() {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void argumentsAreCheckedBeforeAnythingIsRead() {
        try (SealedBuffer buffer = Past.REGIONS_OF_THREE_BYTES.of(Bytes.numbered(SIZE))) {
            BufferReader reader = BufferReader.of(buffer);
            assertThrows(NullPointerException.class, () -> reader.getInt(null));
            assertThrows(NullPointerException.class, () -> reader.getString(1, null));
            assertThrows(NullPointerException.class, () -> reader.get((byte[]) null));
            assertThrows(IndexOutOfBoundsException.class, () -> reader.get(new byte[3], 2, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> reader.getInts(new int[3], -1, 2));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> reader.get(MemorySegment.ofArray(new byte[3]).asReadOnly()));
            assertEquals(0, reader.position());
            assertTrue(reader.hasRemaining());
        }
    }

    private static String messageOf(Runnable get) {
        return assertThrows(IndexOutOfBoundsException.class, get::run).getMessage();
    }

    private static String refusal(Runnable call) {
        return assertThrows(IllegalArgumentException.class, call::run).getMessage();
    }
}
