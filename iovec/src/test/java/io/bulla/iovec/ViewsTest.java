// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/// Every kind of vector is the same bytes: cut or not, with a holder, with a stamp, with both. Against an array.
class ViewsTest {

    private static final byte[] BYTES = bytes(70);

    private final Generation stamp = new Generation();

    private static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(18).nextBytes(bytes);
        return bytes;
    }

    private static IoVec cut(byte[] bytes, int... ends) {
        List<MemorySegment> regions = new ArrayList<>();
        int from = 0;
        for (int end : ends) {
            regions.add(MemorySegment.ofArray(Arrays.copyOfRange(bytes, from, end)));
            from = end;
        }
        regions.add(MemorySegment.ofArray(Arrays.copyOfRange(bytes, from, bytes.length)));
        return IoVec.of(regions.toArray(MemorySegment[]::new));
    }

    private Map<String, IoVec> stamped(byte[] bytes, int... ends) {
        Object holder = new Object();
        IoVec one = cut(bytes);
        IoVec many = cut(bytes, ends);
        Map<String, IoVec> all = new LinkedHashMap<>();
        all.put("one", one.stamped(stamp));
        all.put("many", many.stamped(stamp));
        all.put("one, twice", one.stamped(stamp).stamped(new Generation()));
        all.put("one, behind another", one.stamped(new Generation()).stamped(stamp));
        all.put("one, kept", one.stamped(stamp).keeping(holder));
        all.put("many, kept", many.keeping(holder).stamped(stamp));
        all.put("many, kept twice", many.stamped(stamp).keeping(holder).keeping(this));
        return all;
    }

    private Map<String, IoVec> all(byte[] bytes, int... ends) {
        Map<String, IoVec> all = new LinkedHashMap<>();
        all.put("bare one", cut(bytes));
        all.put("bare many", cut(bytes, ends));
        all.put("kept one", cut(bytes).keeping(this));
        all.put("kept many", cut(bytes, ends).keeping(this).keeping(bytes));
        stamped(bytes, ends).forEach((name, vec) -> all.put("stamped " + name, vec));
        return all;
    }

    private static void outside(String name, Executable use) {
        assertThrows(IndexOutOfBoundsException.class, use, name);
    }

    @Test
    void readsAtEveryOffset() {
        ByteBuffer flat = ByteBuffer.wrap(BYTES);
        int size = BYTES.length;
        all(BYTES, 1, 3, 10, 11, 40).forEach((name, vec) -> {
            assertEquals(size, vec.byteSize(), name);
            for (int at = 0; at < size; at++) {
                assertEquals(BYTES[at], vec.getByte(at), name);
                assertEquals(at < size - 1 ? flat.getShort(at) : -1, at < size - 1 ? vec.getShort(at) : -1, name);
                assertEquals(at < size - 3 ? flat.getInt(at) : -1, at < size - 3 ? vec.getInt(at) : -1, name);
                assertEquals(at < size - 7 ? flat.getLong(at) : -1, at < size - 7 ? vec.getLong(at) : -1, name);
            }
            for (long wrong : new long[] {-1, size, Long.MAX_VALUE}) {
                outside(name, () -> vec.getByte(wrong));
                outside(name, () -> vec.getShort(wrong - 1));
                outside(name, () -> vec.getInt(wrong - 3));
                outside(name, () -> vec.getLong(wrong - 7));
            }
        });
    }

    @Test
    void copiesOfEveryRange() {
        all(BYTES, 1, 3, 10, 11, 40).forEach((name, vec) -> {
            for (int from = 0; from <= BYTES.length; from += 3) {
                for (int length = 0; length <= BYTES.length - from; length += 5) {
                    byte[] target = new byte[length + 1];
                    vec.copyTo(from, MemorySegment.ofArray(target), length);
                    byte[] expected = Arrays.copyOf(Arrays.copyOfRange(BYTES, from, from + length), length + 1);
                    assertArrayEquals(expected, target, name);
                }
            }
            MemorySegment small = MemorySegment.ofArray(new byte[4]);
            CopyTally before = CopyTally.snapshot();
            outside(name, () -> vec.copyTo(0, small, 5));
            outside(name, () -> vec.copyTo(BYTES.length - 3, small, 4));
            outside(name, () -> vec.copyTo(-1, small, 4));
            outside(name, () -> vec.copyTo(BYTES.length + 1, small, 0));
            assertEquals(-1, small.mismatch(MemorySegment.ofArray(new byte[4])), "nothing is copied");
            vec.copyTo(BYTES.length, small, 0);
            assertEquals(new CopyTally(0, 0), CopyTally.snapshot().since(before), "no bytes are no copy");
        });
    }

    @Test
    void regionsAreWhereTheyWereCut() {
        all(BYTES, 1, 3, 40).forEach((name, vec) -> {
            int many = name.contains("many") ? 4 : 1;
            long[] starts = many == 1 ? new long[] {0} : new long[] {0, 1, 3, 40};
            assertEquals(many, vec.regionCount(), name);
            for (int at = 0; at < BYTES.length; at++) {
                int in = many == 1 ? 0 : at < 1 ? 0 : at < 3 ? 1 : at < 40 ? 2 : 3;
                assertEquals(in, vec.regionAt(at), name);
                assertEquals(starts[in], vec.regionStart(in), name);
                assertEquals(BYTES[at], vec.region(in).get(ValueLayout.JAVA_BYTE, at - vec.regionStart(in)), name);
            }
            outside(name, () -> vec.regionAt(BYTES.length));
            outside(name, () -> vec.regionAt(-1));
            outside(name, () -> vec.region(many));
            outside(name, () -> vec.region(-1));
            assertTrue(vec.region(0).isReadOnly(), name);
            assertEquals("IoVec[byteSize=70 regions=" + many + "]", vec.toString(), name);
        });
    }

    @Test
    void recordOutsideIsToldInTheVectorsWords() {
        long[][] wrong = {{67, 4}, {-1, 4}, {0, -1}, {71, 0}, {0, 71}, {Long.MAX_VALUE, 1}, {Long.MIN_VALUE, 1}};
        all(BYTES, 1, 3, 40).forEach((name, vec) -> {
            assertEquals(0, vec.record(70, 0).byteSize(), name);
            for (long[] each : wrong) {
                IndexOutOfBoundsException outside =
                        assertThrows(IndexOutOfBoundsException.class, () -> vec.record(each[0], (int) each[1]), name);
                assertEquals(
                        "record past the end: offset=" + each[0] + " length=" + each[1] + " byteSize=70",
                        outside.getMessage(),
                        name);
            }
        });
    }

    @Test
    void slicesAreTheSameKindOfTheSameBytes() {
        all(BYTES, 1, 3, 10, 11, 40).forEach((name, vec) -> {
            for (int from = 0; from <= BYTES.length; from += 7) {
                for (int length = 0; length <= BYTES.length - from; length += 3) {
                    IoVec part = vec.slice(from, length);
                    assertEquals(cut(Arrays.copyOfRange(BYTES, from, from + length)), part, name);
                    assertEquals(vec.isStamped(), part.isStamped(), name);
                }
            }
            outside(name, () -> vec.slice(1, BYTES.length));
            outside(name, () -> vec.slice(-1, 2));
        });
        IoVec one = cut(BYTES).stamped(stamp);
        assertSame(one, one.slice(0, BYTES.length));
    }

    @Test
    void sameBytesAreEqualHoweverTheyAreKept() {
        byte[] other = BYTES.clone();
        other[69]++;
        Map<String, IoVec> all = all(BYTES, 1, 3, 10, 11, 40);
        all.forEach((name, vec) -> {
            all.values().forEach(same -> {
                assertEquals(vec, same, name);
                assertEquals(vec.hashCode(), same.hashCode(), name);
                assertEquals(-1, vec.mismatch(same), name);
                assertEquals(0, vec.compareContent(same), name);
            });
            assertEquals(Arrays.hashCode(BYTES), vec.hashCode(), name);
            for (IoVec differs : List.of(cut(other), cut(other, 30), cut(other).stamped(new Generation()))) {
                assertNotEquals(vec, differs, name);
                assertNotEquals(differs, vec, name);
                assertEquals(69, vec.mismatch(differs), name);
            }
            assertFalse(vec.equals((Object) "text"), name);
            assertFalse(vec.equals(null), name);
        });
    }

    @Test
    void shorterOneComesFirstAndBytesAreUnsigned() {
        byte[][] order = {{}, {0}, {0, 0}, {0, 1}, {1}, {1, (byte) 0x7f}, {1, (byte) 0x80}, {(byte) 0xff}};
        for (int i = 0; i < order.length; i++) {
            for (int j = 0; j < order.length; j++) {
                for (IoVec one : List.of(cut(order[i]), cut(order[i]).keeping(this))) {
                    int sign = Integer.signum(one.compareContent(cut(order[j])));
                    assertEquals(Integer.compare(i, j), sign, i + " and " + j);
                }
            }
        }
    }

    @Test
    void hashIsThatOfAnArrayHoweverLong() {
        for (int size : new int[] {0, 1, 8191, 8192, 8193, 20_000}) {
            byte[] bytes = bytes(size);
            assertEquals(Arrays.hashCode(bytes), cut(bytes).hashCode());
            assertEquals(Arrays.hashCode(bytes), cut(bytes, size / 3, size / 2).hashCode());
        }
    }

    @Test
    void searchAgreesWithANaiveOne() {
        byte[] bytes = new byte[40];
        Random random = new Random(7);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) random.nextInt(2);
        }
        all(bytes, 1, 2, 9, 20).forEach((name, vec) -> {
            for (int length = 0; length <= 7; length++) {
                for (int bits = 0; bits < 1 << length; bits++) {
                    byte[] wanted = new byte[length];
                    for (int i = 0; i < length; i++) {
                        wanted[i] = (byte) (bits >> i & 1);
                    }
                    for (int from = 0; from <= bytes.length; from += length < 3 ? 1 : 3) {
                        assertEquals(naive(bytes, from, wanted), vec.indexOf(from, wanted), name);
                    }
                }
            }
            assertEquals(-1, vec.indexOf(0, new byte[41]), name);
            assertEquals(0, vec.indexOf(0, bytes), name);
            assertEquals(-1, vec.indexOf(1, bytes), name);
            outside(name, () -> vec.indexOf(41, (byte) 0));
            outside(name, () -> vec.indexOf(-1));
        });
    }

    private static long naive(byte[] bytes, int from, byte[] wanted) {
        for (int at = from; at <= bytes.length - wanted.length; at++) {
            if (Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }

    @Test
    void dumpIsThatOfXxd() {
        assertEquals("", IoVec.empty().hexDump());
        byte[] bytes = "hello\0\0\0\0\1\0\0\0\2\0\0\0\3~ \u007f".getBytes(StandardCharsets.ISO_8859_1);
        all(bytes, 5, 17).forEach((name, vec) -> assertEquals("""
                00000000: 6865 6c6c 6f00 0000 0001 0000 0002 0000  hello...........
                00000010: 0003 7e20 7f                             ..~ .
                """, vec.hexDump(), name));
        String[] lines = cut(new byte[(1 << 16) + 16]).hexDump().split("\n");
        assertEquals((1 << 12) + 1, lines.length);
        assertEquals("00010000: 0000 0000 0000 0000 0000 0000 0000 0000  ................", lines[1 << 12]);
    }

    @Test
    void streamIsOpenUntilItIsClosedAndMayGoBack() throws IOException {
        VecInputStream stream = new VecInputStream(cut(BYTES, 3));
        assertTrue(stream.markSupported());
        assertTrue(stream.isOpen());
        stream.close();
        assertFalse(stream.isOpen());
        assertEquals(0, stream.read(new byte[0], 0, 0));
        for (byte expected : BYTES) {
            assertEquals(expected & 0xff, stream.read());
        }
        assertEquals(-1, stream.read());
    }

    @Test
    void vectorsWithoutBytesAreAlike() {
        MemorySegment none = MemorySegment.ofArray(new byte[0]);
        assertSame(IoVec.empty(), IoVec.of(none));
        assertSame(IoVec.empty(), IoVec.of(none, none));
        assertEquals(1, IoVec.of(none, MemorySegment.ofArray(BYTES)).regionCount());
    }

    @Test
    void nothingOfAnEndedStampIsRead() {
        Map<String, IoVec> all = stamped(BYTES, 1, 3, 40);
        IoVec plain = cut(BYTES);
        MemorySegment target = MemorySegment.ofArray(new byte[8]);
        Map<String, IoVec> others = Map.of("kept", cut(BYTES).keeping(this), "fresh", plain.stamped(new Generation()));
        Map<String, IoVec> derived = new LinkedHashMap<>();
        all.forEach((name, vec) -> {
            derived.put(name + ", slice", vec.slice(1, 50));
            derived.put(name + ", kept", vec.keeping(target));
            derived.put(name + ", stamped again", vec.stamped(new Generation()));
            derived.put(name + ", joined", IoVec.concat(plain, vec));
        });
        all.putAll(derived);
        stamp.end();
        all.forEach((name, vec) -> Stream.<Executable>of(
                        () -> vec.getByte(0),
                        () -> vec.getShort(0),
                        () -> vec.getInt(0),
                        () -> vec.getLong(0),
                        () -> vec.copyTo(0, target, 8),
                        () -> vec.slice(0, 1),
                        () -> vec.region(0),
                        vec::verify,
                        vec::lent,
                        vec::hashCode,
                        vec::hexDump,
                        () -> vec.equals(plain),
                        () -> vec.mismatch(plain),
                        () -> plain.mismatch(vec),
                        () -> vec.compareContent(plain),
                        () -> vec.indexOf(0, (byte) 1))
                .forEach(use -> {
                    String said =
                            assertThrows(IllegalStateException.class, use, name).getMessage();
                    assertTrue(said.startsWith("stale view: its memory was given back: byteSize="), said);
                }));
        assertEquals(-1, target.mismatch(MemorySegment.ofArray(new byte[8])), "nothing is copied");
        others.forEach((name, vec) -> assertEquals(-1, vec.mismatch(plain), name));
    }
}
