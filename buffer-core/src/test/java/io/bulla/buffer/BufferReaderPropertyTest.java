// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.iovec.RecordView;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/// Whatever is read, in whatever order, is what a `java.nio.ByteBuffer` over the same bytes reads.
class BufferReaderPropertyTest {

    private enum Step {
        BYTE,
        SHORT,
        INT,
        LONG,
        FLOAT,
        DOUBLE,
        BYTES,
        SHORTS,
        INTS,
        LONGS,
        RECORD,
        SKIP,
        POSITION,
        MARK,
        RESET,
        LIMIT
    }

    @Property(tries = 500)
    void readsAsAByteBufferDoes(
            @ForAll @Size(max = 120) byte[] bytes,
            @ForAll @IntRange(min = 1, max = 40) int regionSize,
            @ForAll boolean little,
            @ForAll @Size(max = 60) List<Step> steps,
            @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 0, max = 130) Integer> numbers) {
        ByteOrder order = little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        ByteBuffer model = ByteBuffer.wrap(bytes).order(order).mark();
        try (SealedBuffer buffer = Past.cut(regionSize, bytes)) {
            BufferReader reader = BufferReader.of(buffer);
            for (int i = 0; i < steps.size(); i++) {
                apply(steps.get(i), numbers.get(i % numbers.size()), model, reader, order);
                assertEquals(model.position(), reader.position());
                assertEquals(model.limit(), reader.limit());
            }
        }
    }

    private static void apply(Step step, int number, ByteBuffer model, BufferReader reader, ByteOrder order) {
        switch (step) {
            case BYTE -> same(Byte.BYTES, model, reader, model::get, reader::getByte);
            case SHORT -> same(Short.BYTES, model, reader, model::getShort, () -> reader.getShort(order));
            case INT -> same(Integer.BYTES, model, reader, model::getInt, () -> reader.getInt(order));
            case LONG -> same(Long.BYTES, model, reader, model::getLong, () -> reader.getLong(order));
            case FLOAT ->
                same(
                        Float.BYTES,
                        model,
                        reader,
                        () -> Float.floatToRawIntBits(model.getFloat()),
                        () -> Float.floatToRawIntBits(reader.getFloat(order)));
            case DOUBLE ->
                same(
                        Double.BYTES,
                        model,
                        reader,
                        () -> Double.doubleToRawLongBits(model.getDouble()),
                        () -> Double.doubleToRawLongBits(reader.getDouble(order)));
            case BYTES -> bytes(number, model, reader);
            case SHORTS -> shorts(number / 2, model, reader);
            case INTS -> ints(number / 4, model, reader);
            case LONGS -> longs(number / 8, model, reader);
            case RECORD -> record(number, model, reader);
            case SKIP -> {
                if (number <= model.remaining()) {
                    model.position(model.position() + number);
                    reader.skip(number);
                } else {
                    assertThrows(IndexOutOfBoundsException.class, () -> reader.skip(number));
                }
            }
            case POSITION -> {
                if (number <= model.limit()) {
                    // a ByteBuffer forgets a mark behind its position
                    int mark = model.duplicate().reset().position();
                    model.position(mark).mark();
                    reader.position(mark).mark();
                    if (number >= mark) {
                        model.position(number);
                        reader.position(number);
                    }
                } else {
                    assertThrows(IllegalArgumentException.class, () -> reader.position(number));
                }
            }
            case MARK -> {
                model.mark();
                reader.mark();
            }
            case RESET -> {
                model.reset();
                reader.reset();
            }
            case LIMIT -> {
                if (number >= model.position() && number <= model.capacity()) {
                    model.limit(number);
                    reader.limit(number);
                } else {
                    assertThrows(IllegalArgumentException.class, () -> reader.limit(number));
                }
            }
        }
    }

    private static void record(int size, ByteBuffer model, BufferReader reader) {
        if (size > model.remaining()) {
            assertThrows(IndexOutOfBoundsException.class, () -> reader.record(size));
            return;
        }
        byte[] wanted = new byte[size];
        model.get(wanted);
        byte[] read = new byte[size];
        RecordView record = reader.record(size);
        record.getBytes(0, read, 0, size);
        assertEquals(size, record.byteSize());
        assertArrayEquals(wanted, read);
    }

    private interface Get {
        Object value();
    }

    private static void same(int width, ByteBuffer model, BufferReader reader, Get expected, Get found) {
        if (model.remaining() < width) {
            assertThrows(BufferUnderflowException.class, expected::value);
            assertThrows(IndexOutOfBoundsException.class, found::value);
        } else {
            assertEquals(expected.value(), found.value());
        }
    }

    private static void bytes(int count, ByteBuffer model, BufferReader reader) {
        byte[] found = new byte[count];
        if (count > model.remaining()) {
            assertThrows(IndexOutOfBoundsException.class, () -> reader.get(found));
            return;
        }
        byte[] expected = new byte[count];
        model.get(expected);
        reader.get(found);
        assertArrayEquals(expected, found);
    }

    private static void shorts(int count, ByteBuffer model, BufferReader reader) {
        short[] found = new short[count];
        if (count * Short.BYTES > model.remaining()) {
            assertThrows(IndexOutOfBoundsException.class, () -> reader.getShorts(found, 0, count));
            return;
        }
        short[] expected = new short[count];
        model.duplicate().order(ByteOrder.BIG_ENDIAN).asShortBuffer().get(expected);
        model.position(model.position() + count * Short.BYTES);
        reader.getShorts(found, 0, count);
        assertArrayEquals(expected, found);
    }

    private static void ints(int count, ByteBuffer model, BufferReader reader) {
        int[] found = new int[count];
        if (count * Integer.BYTES > model.remaining()) {
            assertThrows(IndexOutOfBoundsException.class, () -> reader.getInts(found, 0, count));
            return;
        }
        int[] expected = new int[count];
        ByteBuffer big = model.duplicate().order(ByteOrder.BIG_ENDIAN);
        big.asIntBuffer().get(expected);
        model.position(model.position() + count * Integer.BYTES);
        reader.getInts(found, 0, count);
        assertArrayEquals(expected, found);
    }

    private static void longs(int count, ByteBuffer model, BufferReader reader) {
        long[] found = new long[count];
        if (count * Long.BYTES > model.remaining()) {
            assertThrows(IndexOutOfBoundsException.class, () -> reader.getLongs(found, 0, count));
            return;
        }
        long[] expected = new long[count];
        model.duplicate().order(ByteOrder.BIG_ENDIAN).asLongBuffer().get(expected);
        model.position(model.position() + count * Long.BYTES);
        reader.getLongs(found, 0, count);
        assertArrayEquals(expected, found);
    }
}
