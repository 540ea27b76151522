// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/// Makes siblings of an input that a fuzzer of plain bytes seldom hits: numbers at their edges in either encoding,
/// padded ones, type ids, other calls, checksums that are right. Always the same ones for an input.
public final class Mutator {

    private static final int MOST = 1024;
    private static final int TYPES = 70;
    private static final long[] EDGES = {
        0,
        1,
        2,
        3,
        0x7f,
        0x80,
        0xff,
        0x3fff,
        0x4000,
        0x7fff,
        0xffff,
        0xfffff,
        0x100000,
        0x100001,
        0x7fffffffL,
        0x80000000L,
        0xffffffffL,
        1L << 40,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1
    };

    private final byte[] bytes = new byte[MOST + Long.BYTES + 2];
    private SplittableRandom random;
    private int length;

    /// Makes siblings.
    public Mutator() {}

    /// The next siblings are of this input.
    ///
    /// @param input their origin
    public void begin(FuzzInput input) {
        random = new SplittableRandom(input.hashCode());
    }

    /// One sibling, of one to three changes.
    ///
    /// @param input as [#begin] was told
    /// @return an input of at most 1 KiB, or of the size of `input`
    public FuzzInput next(FuzzInput input) {
        if (input.length() > MOST - FuzzInput.HEADER) {
            byte[] cut = Arrays.copyOf(input.bytes(), FuzzInput.HEADER + random.nextInt(MOST - FuzzInput.HEADER));
            return new FuzzInput(cut);
        }
        length = input.bytes().length;
        System.arraycopy(input.bytes(), 0, bytes, 0, length);
        for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
            change();
        }
        return new FuzzInput(Arrays.copyOf(bytes, length));
    }

    private void change() {
        switch (random.nextInt(10)) {
            case 0 -> length = place();
            case 1 -> bytes[2 + random.nextInt(6)] = (byte) random.nextInt(256);
            case 2 -> bytes[1] = (byte) random.nextInt(256);
            case 3 -> overwrite((byte) random.nextInt(TYPES));
            case 4 -> overwrite((byte) random.nextInt(256));
            case 5, 6 -> fixed();
            case 7, 8 -> flex();
            default -> checksums();
        }
    }

    private int place() {
        return FuzzInput.HEADER + random.nextInt(length - FuzzInput.HEADER + 1);
    }

    private void overwrite(byte value) {
        int at = place();
        if (at < length) {
            bytes[at] = value;
        }
    }

    private long edge() {
        long edge = EDGES[random.nextInt(EDGES.length)];
        return random.nextInt(4) == 0 ? length - FuzzInput.HEADER + edge % 3 : edge;
    }

    private void fixed() {
        int width = 1 << random.nextInt(4);
        long value = edge();
        insert(place(), random.nextBoolean() ? width : 0, width, i -> (byte) (value >>> 8 * (width - 1 - i)));
    }

    private void flex() {
        long edge = edge();
        long value = random.nextBoolean() ? edge << 1 ^ edge >> 63 : edge;
        int least = (Long.SIZE - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
        int padded = random.nextInt(8) == 0 ? least + random.nextInt(3) : least;
        int width = Math.min(padded, 9);
        int at = place();
        int old = 0;
        if (random.nextBoolean()) {
            // in the place of the number that stands there
            while (at + old < length && old < 9 && bytes[at + old++] < 0) {}
        }
        insert(at, old, width, i -> (byte) (value >>> 7 * i & (i == 8 ? 0xff : 0x7f) | (i < width - 1 ? 0x80 : 0)));
    }

    private interface ByteOf {
        byte at(int index);
    }

    private void insert(int at, int old, int width, ByteOf value) {
        int behind = Math.min(length, at + old);
        if (length - (behind - at) + width > MOST) {
            return;
        }
        System.arraycopy(bytes, behind, bytes, at + width, length - behind);
        length += width - (behind - at);
        for (int i = 0; i < width; i++) {
            bytes[at + i] = value.at(i);
        }
    }

    /// Makes an envelope whole again, or the frame's first bytes; nothing else looks at them.
    private void checksums() {
        int start = FuzzInput.HEADER;
        if (length - start < 24) {
            return;
        }
        ByteBuffer message = ByteBuffer.wrap(bytes, start, length - start).slice();
        if (random.nextInt(4) != 0) {
            message.putLong(8, length - start - 24);
        }
        message.putInt(16, crc(start + 24, length - start - 24)).putInt(20, crc(start, 20));
    }

    private int crc(int from, int count) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, count);
        return (int) crc.getValue();
    }
}
