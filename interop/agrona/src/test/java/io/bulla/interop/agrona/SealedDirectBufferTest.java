// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.agrona;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.iovec.IoVec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/// Every read of Agrona's interface, beside Agrona's own buffer over the same bytes: the same answer, or both
/// refuse.
class SealedDirectBufferTest {

    private static final int NEAR = 12;

    private static final List<Function<DirectBuffer, Object>> READS = reads();

    private static List<Function<DirectBuffer, Object>> reads() {
        List<Function<DirectBuffer, Object>> reads = new ArrayList<>();
        for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
            reads.add(buffer -> {
                List<Object> all = new ArrayList<>();
                for (int i = 0; i <= buffer.capacity() - 8; i++) {
                    all.add(buffer.getLong(i, order));
                    all.add(buffer.getInt(i, order));
                    all.add(buffer.getShort(i, order));
                    all.add(buffer.getChar(i, order));
                    all.add(Double.doubleToRawLongBits(buffer.getDouble(i, order)));
                    all.add(Float.floatToRawIntBits(buffer.getFloat(i, order)));
                }
                return all;
            });
        }
        for (int i = -2; i < NEAR; i++) {
            int at = i;
            reads.add(buffer -> buffer.getLong(at));
            reads.add(buffer -> buffer.getInt(at));
            reads.add(buffer -> buffer.getShort(at));
            reads.add(buffer -> buffer.getChar(at));
            reads.add(buffer -> buffer.getByte(at));
            reads.add(buffer -> Double.doubleToRawLongBits(buffer.getDouble(at)));
            reads.add(buffer -> Float.floatToRawIntBits(buffer.getFloat(at)));
            reads.add(buffer -> buffer.getStringAscii(at));
            reads.add(buffer -> buffer.getStringAscii(at, ByteOrder.BIG_ENDIAN));
            reads.add(buffer -> buffer.getStringUtf8(at));
            reads.add(buffer -> buffer.getStringUtf8(at, ByteOrder.BIG_ENDIAN));
            reads.add(buffer -> appended(to -> buffer.getStringAscii(at, to)));
            reads.add(buffer -> appended(to -> buffer.getStringAscii(at, to, ByteOrder.BIG_ENDIAN)));
            for (int n = -1; n < NEAR; n++) {
                int length = n;
                reads.add(buffer -> buffer.getStringAscii(at, length));
                reads.add(buffer -> buffer.getStringUtf8(at, length));
                reads.add(buffer -> buffer.getStringWithoutLengthAscii(at, length));
                reads.add(buffer -> buffer.getStringWithoutLengthUtf8(at, length));
                if (length >= 0) {
                    // Agrona takes a negative length here for none, and answers with it
                    reads.add(buffer -> appended(to -> buffer.getStringAscii(at, length, to)));
                }
                reads.add(buffer -> appended(to -> buffer.getStringWithoutLengthAscii(at, length, to)));
                reads.add(buffer -> {
                    buffer.boundsCheck(at, length);
                    return "inside";
                });
                reads.add(buffer -> {
                    byte[] target = new byte[NEAR];
                    buffer.getBytes(at, target, 1, length);
                    return Arrays.toString(target);
                });
                reads.add(buffer -> {
                    ByteBuffer target = ByteBuffer.allocate(NEAR).position(2);
                    buffer.getBytes(at, target, length);
                    return target.position() + Arrays.toString(target.array());
                });
                reads.add(buffer -> {
                    ByteBuffer target = ByteBuffer.allocateDirect(NEAR);
                    buffer.getBytes(at, target, 1, length);
                    byte[] read = new byte[NEAR];
                    target.get(0, read);
                    return target.position() + Arrays.toString(read);
                });
                reads.add(buffer -> {
                    byte[] target = new byte[NEAR];
                    buffer.getBytes(at, new UnsafeBuffer(target), 1, length);
                    return Arrays.toString(target);
                });
            }
            reads.add(buffer -> {
                buffer.checkLimit(at);
                return "inside";
            });
        }
        reads.add(DirectBuffer::capacity);
        return reads;
    }

    private static String appended(Function<StringBuilder, Integer> read) {
        StringBuilder text = new StringBuilder();
        return read.apply(text) + text.toString();
    }

    @Property(tries = 60)
    void readsAsAgronaDoes(@ForAll @Size(max = 40) byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            compare(arena, bytes, READS);
        }
    }

    @Test
    void readsAsAgronaDoesWhereStringsAndNumbersAre() {
        try (Arena arena = Arena.ofConfined()) {
            byte[] text = {5, 0, 0, 0, 'h', 'a', (byte) 0xc3, (byte) 0xa4, '!', 0, 0, 0, 2, 'o', 'k'};
            compare(arena, text, READS);
            for (String number : List.of(
                    "0",
                    "7",
                    "-7",
                    "-0",
                    "2147483647",
                    "2147483648",
                    "-2147483648",
                    "9223372036854775807",
                    "9223372036854775808",
                    "-9223372036854775808",
                    "",
                    "-",
                    "+1",
                    "12x",
                    "x1",
                    " 1",
                    "-x",
                    "99999999999999999999")) {
                byte[] digits = number.getBytes(StandardCharsets.US_ASCII);
                compare(
                        arena,
                        digits,
                        List.of(
                                buffer -> buffer.parseIntAscii(0, digits.length),
                                buffer -> buffer.parseLongAscii(0, digits.length),
                                buffer -> buffer.parseNaturalIntAscii(0, digits.length),
                                buffer -> buffer.parseNaturalLongAscii(0, digits.length)));
            }
        }
    }

    private static void compare(Arena arena, byte[] bytes, List<Function<DirectBuffer, Object>> reads) {
        DirectBuffer ours = SealedDirectBuffer.of(IoVec.of(copy(arena, bytes)));
        DirectBuffer theirs = new UnsafeBuffer(bytes.clone());
        for (int i = 0; i < reads.size(); i++) {
            String what = "read " + i + " of " + Arrays.toString(bytes);
            assertEquals(answer(theirs, reads.get(i)), answer(ours, reads.get(i)), what);
        }
    }

    private static Object answer(DirectBuffer buffer, Function<DirectBuffer, Object> read) {
        try {
            return read.apply(buffer);
        } catch (IndexOutOfBoundsException | NegativeArraySizeException outside) {
            return "outside";
        } catch (NumberFormatException noNumber) {
            // the words are Agrona's, too, with the text that was there
            return noNumber.getMessage();
        }
    }

    @Test
    void comparesAsAgronaDoes() {
        Random random = new Random(1);
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < 300; i++) {
                byte[] one = new byte[random.nextInt(20)];
                byte[] other = new byte[random.nextInt(20)];
                random.nextBytes(one);
                System.arraycopy(one, 0, other, 0, Math.min(one.length, random.nextInt(other.length + 1)));
                SealedDirectBuffer ours = SealedDirectBuffer.of(IoVec.of(copy(arena, one)));
                SealedDirectBuffer more = SealedDirectBuffer.of(IoVec.of(copy(arena, other)));
                int theirs = new UnsafeBuffer(one).compareTo(new UnsafeBuffer(other));
                assertEquals(Integer.signum(theirs), Integer.signum(ours.compareTo(more)));
                assertEquals(Integer.signum(theirs), Integer.signum(ours.compareTo(new UnsafeBuffer(other))));
                assertEquals(Arrays.equals(one, other), ours.equals(more));
            }
        }
    }

    @Test
    void agronaCopiesThroughItsFlatAddress() {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = {1, 2, 3, 4, 5};
            UnsafeBuffer target = new UnsafeBuffer(new byte[5]);
            target.putBytes(0, SealedDirectBuffer.of(IoVec.of(copy(arena, bytes))), 0, 5);
            assertArrayEquals(bytes, target.byteArray());
        }
    }

    @Test
    void isNotWrappedAroundAnythingElse() {
        try (Arena arena = Arena.ofConfined()) {
            SealedDirectBuffer buffer = SealedDirectBuffer.of(IoVec.of(copy(arena, new byte[3])));
            assertNull(buffer.byteArray());
            assertNull(buffer.byteBuffer());
            for (org.junit.jupiter.api.function.Executable wrap : List.<org.junit.jupiter.api.function.Executable>of(
                    () -> buffer.wrap(new byte[1]),
                    () -> buffer.wrap(new byte[1], 0, 1),
                    () -> buffer.wrap(ByteBuffer.allocate(1)),
                    () -> buffer.wrap(ByteBuffer.allocate(1), 0, 1),
                    () -> buffer.wrap(buffer),
                    () -> buffer.wrap(buffer, 0, 1),
                    () -> buffer.wrap(1L, 1))) {
                assertEquals(
                        "these bytes have their place: no wrapping around other memory",
                        assertThrows(UnsupportedOperationException.class, wrap).getMessage());
            }
            assertNotEquals(buffer, new UnsafeBuffer(new byte[3]));
        }
    }

    @Test
    void refusesWhatHasNoFlatAddress() {
        try (Arena arena = Arena.ofConfined()) {
            IoVec two = IoVec.of(arena.allocate(2), arena.allocate(3));
            assertEquals(
                    "bytes lie in several regions: regions=2 byteSize=5",
                    assertThrows(IllegalArgumentException.class, () -> SealedDirectBuffer.of(two))
                            .getMessage());
            IoVec heap = IoVec.of(MemorySegment.ofArray(new byte[4]));
            assertEquals(
                    "no DirectBuffer over this: byteSize=4 limit=2147483647 native=false",
                    assertThrows(IllegalArgumentException.class, () -> SealedDirectBuffer.of(heap))
                            .getMessage());
        }
    }

    @Test
    void readsOfFreedMemoryThrow() {
        SealedDirectBuffer buffer;
        try (Arena arena = Arena.ofConfined()) {
            buffer = SealedDirectBuffer.of(IoVec.of(copy(arena, new byte[8])));
        }
        assertThrows(IllegalStateException.class, () -> buffer.getLong(0));
        assertThrows(IllegalStateException.class, () -> buffer.getBytes(0, new byte[8]));
        assertThrows(IllegalStateException.class, () -> buffer.getStringWithoutLengthUtf8(0, 8));
        assertThrows(IllegalStateException.class, () -> buffer.getBytes(0, new UnsafeBuffer(new byte[8]), 0, 8));
    }

    private static MemorySegment copy(Arena arena, byte[] bytes) {
        MemorySegment memory = arena.allocate(bytes.length, 1);
        return memory.copyFrom(MemorySegment.ofArray(bytes));
    }
}
