// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.iovec.IoVec;
import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.value.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// Numbers in as few bytes as they need: what PMIx calls flex128.
///
/// ```
///  byte 1..8:  c v v v v v v v     c = 1: another byte follows     lowest seven bits first
///  byte 9:     v v v v v v v v     no flag: eight bits
///
///  signed numbers, zig-zag before that:  0 -1 1 -2 2  travel as  0 1 2 3 4
///  numbers of eight bits are one raw byte
/// ```
///
/// The bytes of a varint are taken eight at a time: [#spread] puts seven bits into each byte of a word, and
/// [#gather] takes them back. C reads numbers that are padded with zero groups; here they are malformed.
final class Flex128 implements Encoding {

    static final Flex128 ENCODING = new Flex128();

    // zig-zag
    private static final byte ONE = 2;
    private static final long FLAGS = 0x8080_8080_8080_8080L;

    private Flex128() {}

    @Override
    public void put(BufferBuilder out, Wire wire, long value) {
        if (wire.width() == 1) {
            out.putByte((byte) value);
        } else {
            putFlex(out, wire.isUnsigned() ? value : zigzag(value));
        }
    }

    @Override
    public void putOne(BufferBuilder out) {
        out.putByte(ONE);
    }

    @Override
    public void putOneInt(BufferBuilder out, int value) {
        out.putByte(ONE);
        putFlex(out, zigzag(value));
    }

    @Override
    public void putOneLong(BufferBuilder out, long value) {
        out.putByte(ONE);
        putFlex(out, zigzag(value));
    }

    @Override
    public long textHead(long length, boolean one) {
        long code = zigzag(length);
        long bytes = code <= 0x7f ? code : coded(code);
        return one ? bytes << Byte.SIZE | ONE : bytes;
    }

    @Override
    public int textHeadBytes(long length, boolean one) {
        long code = zigzag(length);
        int bytes = code <= 0x7f ? 1 : leastLength(code);
        return one ? bytes + 1 : bytes;
    }

    @Override
    public int shortLength(MemorySegment region, long at) {
        // negative if another byte follows, odd if the number is negative
        int code = region.get(ByteCursor.BYTE, at);
        return (code & 1) == 0 ? code >> 1 : 0;
    }

    @Override
    public int shortHeadBytes() {
        return 1;
    }

    @Override
    public long number(ByteCursor in, Wire wire) {
        if (wire.width() == 1) {
            return wire == Wire.INT8 ? in.int8() : in.int8() & 0xff;
        }
        long value = flex(in, wire.width() * Byte.SIZE);
        return wire.isUnsigned() ? value : unzigzag(value);
    }

    @Override
    public int leastBytes(Wire wire) {
        return 1;
    }

    @Override
    public void putShorts(BufferBuilder out, Wire wire, short[] values, int from, int count) {
        for (int i = from; i < from + count; i++) {
            putFlex(out, wire.isUnsigned() ? values[i] & 0xffff : zigzag(values[i]));
        }
    }

    @Override
    public void putInts(BufferBuilder out, Scratch aside, Wire wire, int[] values, int from, int count) {
        FlexRuns.put(out, aside, wire.isUnsigned(), values, from, count);
    }

    @Override
    public void putLongs(BufferBuilder out, Wire wire, long[] values, int from, int count) {
        boolean unsigned = wire.isUnsigned();
        for (int i = from; i < from + count; i++) {
            putFlex(out, unsigned ? values[i] : zigzag(values[i]));
        }
    }

    @Override
    public void shorts(ByteCursor in, Wire wire, short[] target, int from, int count) {
        for (int i = from; i < from + count; i++) {
            target[i] = (short) number(in, wire);
        }
    }

    @Override
    public void ints(ByteCursor in, Wire wire, int[] target, int from, int count) {
        IoVec bytes = in.buffer.iovec();
        IoVec regions = bytes.lent();
        for (int done = 0; done < count; ) {
            if (in.position < in.end) {
                int index = bytes.regionAt(in.position);
                done += FlexRuns.read(
                        regions.region(index),
                        bytes.regionStart(index),
                        in,
                        wire.isUnsigned(),
                        target,
                        from + done,
                        count - done);
            }
            if (done < count) {
                // odd, at the end, or across a border
                target[from + done++] = (int) number(in, wire);
            }
        }
        bytes.verify();
        Reference.reachabilityFence(bytes);
    }

    @Override
    public void longs(ByteCursor in, Wire wire, long[] target, int from, int count) {
        for (int i = from; i < from + count; i++) {
            target[i] = number(in, wire);
        }
    }

    private static void putFlex(BufferBuilder out, long value) {
        if ((value & ~0x7fL) == 0) {
            out.putByte((byte) value);
        } else if (value >>> 56 == 0) {
            InPlace.putLittleEndian(out, coded(value), leastLength(value));
        } else {
            InPlace.putLittleEndian(out, spread(value & -1L >>> 8) | FLAGS, Long.BYTES);
            out.putByte((byte) (value >>> 56));
        }
    }

    /// The bytes of a number that takes at most eight, the first one lowest.
    private static long coded(long value) {
        return spread(value) | flags(leastLength(value));
    }

    private static long flex(ByteCursor in, int width) {
        long start = in.position;
        long left = in.end - start;
        if (left == 0) {
            throw ByteCursor.failed(Reason.TRUNCATED, "truncated", 1, 0, start);
        }
        byte first = in.byteAt(start);
        if (first >= 0) {
            in.position = start + 1;
            return first;
        }
        long word = left >= Long.BYTES ? in.littleLong() : shortLittleLong(in, (int) left);
        int length = Math.min(Long.numberOfTrailingZeros(~word & FLAGS) / 8 + 1, 9);
        if (length > left) {
            throw ByteCursor.failed(Reason.TRUNCATED, "truncated number", left + 1, left, start);
        }
        int most = (width + 6) / 7;
        if (length > Math.min(most, 9)) {
            throw ByteCursor.failed(Reason.MALFORMED, "number too long", Math.min(most, 9), length, start);
        }
        in.position = start + Math.min(length, Long.BYTES);
        long value = gather(word & -1L >>> Math.max(0, Long.SIZE - 8 * length));
        if (length > Long.BYTES) {
            value |= (long) in.int8() << 56;
        }
        if (isPadded(value, length)) {
            throw ByteCursor.failed(Reason.MALFORMED, "number padded with zeros", leastLength(value), length, start);
        }
        if (width < Long.SIZE && value >>> width != 0) {
            throw ByteCursor.failed(
                    Reason.MALFORMED, "number too wide", width, Long.SIZE - Long.numberOfLeadingZeros(value), start);
        }
        return value;
    }

    /// What is left of the bytes, as if more of the same number followed.
    private static long shortLittleLong(ByteCursor in, int left) {
        long word = -1L << 8 * left;
        for (int i = 0; i < left; i++) {
            word |= (in.byteAt(in.position + i) & 0xffL) << 8 * i;
        }
        return word;
    }

    static boolean isPadded(long value, int length) {
        return length > 1 && value >>> 7 * (length - 1) == 0;
    }

    private static int leastLength(long value) {
        return (Long.SIZE - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
    }

    /// What says that another byte follows, in all but the last of up to eight.
    private static long flags(int length) {
        return FLAGS & (1L << 8 * (length - 1)) - 1;
    }

    private static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    private static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }

    private static long spread(long value) {
        long x = (value & 0x00ff_ffff_f000_0000L) << 4 | value & 0x0fff_ffffL;
        x = (x & 0x0fff_c000_0fff_c000L) << 2 | x & 0x0000_3fff_0000_3fffL;
        return (x & 0x3f80_3f80_3f80_3f80L) << 1 | x & 0x007f_007f_007f_007fL;
    }

    private static long gather(long word) {
        long x = (word & 0x7f00_7f00_7f00_7f00L) >>> 1 | word & 0x007f_007f_007f_007fL;
        x = (x & 0x3fff_0000_3fff_0000L) >>> 2 | x & 0x0000_3fff_0000_3fffL;
        return (x & 0x0fff_ffff_0000_0000L) >>> 4 | x & 0x0fff_ffffL;
    }
}
