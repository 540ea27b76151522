// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.pack.text.Words;
import java.lang.foreign.MemorySegment;

/// Runs of 32-bit numbers as flex128, several at once where neighbours are of the same length.
///
/// ```
///  eight of one byte     0vvvvvvv x 8                       one word each
///  four of two bytes     1vvvvvvv 0vvvvvvv x 4
/// ```
///
/// A varint's length is known only once it was looked at. Each length that is likely has a branch of its own,
/// so that the processor goes on with the next number at a guessed place, where a computed place would have to
/// be waited for.
final class FlexRuns {

    private static final long FLAGS = 0x8080_8080_8080_8080L;
    private static final long TWO_BYTES_EACH = 0x0080_0080_0080_0080L;
    private static final long LANES = 0x0001_0001_0001_0001L;
    private static final long NONE = -1;
    private static final int FOUR = 4;
    private static final int MAX_BYTES = 5;
    private static final int NUMBERS = 256;

    private FlexRuns() {}

    /// Codes a run in an array and writes it from there: bytes that go one by one into the builder's memory would
    /// have its position stored and its bounds looked at for each.
    static void put(BufferBuilder out, Scratch scratch, boolean unsigned, int[] values, int from, int count) {
        // the last word of a run has up to seven bytes too many
        byte[] aside = scratch.ofAtLeast(Math.min(count, NUMBERS) * MAX_BYTES + Long.BYTES);
        for (int done = 0; done < count; done += NUMBERS) {
            int now = Math.min(count - done, NUMBERS);
            out.put(aside, 0, code(values, from + done, now, unsigned, aside));
        }
    }

    /// @return how many bytes
    private static int code(int[] values, int from, int count, boolean unsigned, byte[] to) {
        int end = from + count;
        int at = 0;
        int i = from;
        for (; i <= end - FOUR; i += FOUR) {
            int a = values[i];
            int b = values[i + 1];
            int c = values[i + 2];
            int d = values[i + 3];
            long codes = fits(a, b, c, d, unsigned) ? codes(a, b, c, d, unsigned) : NONE;
            long high = codes & 0x3f80 * LANES;
            if (high == 0) {
                Words.set(to, at, gathered(codes));
                at += FOUR;
            } else if (codes != NONE && ((high >>> 7) + 0x7f * LANES & 0x80 * LANES) == 0x80 * LANES) {
                Words.set(to, at, codes & 0x7f * LANES | high << 1 | TWO_BYTES_EACH);
                at += Long.BYTES;
            } else {
                at = put(to, at, code(a, unsigned));
                at = put(to, at, code(b, unsigned));
                at = put(to, at, code(c, unsigned));
                at = put(to, at, code(d, unsigned));
            }
        }
        for (; i < end; i++) {
            at = put(to, at, code(values[i], unsigned));
        }
        return at;
    }

    /// Whether each is coded in at most two bytes.
    private static boolean fits(int a, int b, int c, int d, boolean unsigned) {
        return unsigned ? (a | b | c | d) >>> 14 == 0 : (a + 0x2000 | b + 0x2000 | c + 0x2000 | d + 0x2000) >>> 14 == 0;
    }

    /// The codes of four numbers that fit, each in a lane of 16 bits.
    private static long codes(int a, int b, int c, int d, boolean unsigned) {
        long lanes = a & 0xffffL | (b & 0xffffL) << 16 | (c & 0xffffL) << 32 | (long) d << 48;
        // zig-zag in all lanes: a lane of ones where the highest bit says negative
        return unsigned ? lanes : lanes << 1 & 0xfffe * LANES ^ (lanes >>> 15 & LANES) * 0xffff;
    }

    /// The low bytes of the four lanes.
    private static long gathered(long lanes) {
        long pairs = lanes | lanes >>> 8;
        return pairs & 0xffff | pairs >>> 16 & 0xffff_0000L;
    }

    private static int code(int value, boolean unsigned) {
        return unsigned ? value : value << 1 ^ value >> 31;
    }

    /// @return where the next one goes
    private static int put(byte[] to, int at, int code) {
        if (code >>> 28 != 0) {
            Words.set(to, at, fiveGroups(code & 0xffff_ffffL) | FLAGS >>> 32);
            return at + MAX_BYTES;
        }
        if (code >>> 7 == 0) {
            to[at] = (byte) code;
            return at + 1;
        }
        if (code >>> 14 == 0) {
            Words.set(to, at, code & 0x7f | 0x80 | code >>> 7 << 8);
            return at + 2;
        }
        int length = code >>> 21 == 0 ? 3 : 4;
        Words.set(to, at, fiveGroups(code) | FLAGS >>> Long.SIZE - 8 * (length - 1));
        return at + length;
    }

    private static long fiveGroups(long code) {
        return code & 0x7f
                | (code & 0x3f80) << 1
                | (code & 0x1f_c000) << 2
                | (code & 0xfe0_0000) << 3
                | code >>> 28 << 32;
    }

    /// Reads well-formed numbers while eight bytes of the region remain; whatever is odd is left to the caller.
    ///
    /// @param region where they are
    /// @param start offset of the region
    /// @param in moved behind the last one that was read
    /// @return how many were read
    static int read(
            MemorySegment region, long start, ByteCursor in, boolean unsigned, int[] target, int from, int count) {
        long at = in.position - start;
        long last = Math.min(in.end - start, region.byteSize()) - Long.BYTES;
        int end = from + count;
        int i = from;
        while (i < end && at <= last) {
            long word = region.get(Words.LAYOUT, at);
            long flags = word & FLAGS;
            if (flags == TWO_BYTES_EACH && i <= end - FOUR) {
                // a second group of zeros is padding: adding 127 to any other one carries
                if (((word >>> 8 & 0x7f * LANES) + 0x7f * LANES & 0x80 * LANES) != 0x80 * LANES) {
                    break;
                }
                fourLanes(word & 0x7f * LANES | word >>> 1 & 0x3f80 * LANES, unsigned, target, i);
                i += FOUR;
                at += Long.BYTES;
            } else if (flags == 0 && i <= end - Long.BYTES) {
                fourLanes(lanes(word & 0xffff_ffffL), unsigned, target, i);
                fourLanes(lanes(word >>> 32), unsigned, target, i + FOUR);
                i += Long.BYTES;
                at += Long.BYTES;
            } else {
                int length = lengthOf(flags);
                long code = number(word & -1L >>> Long.SIZE - 8 * length);
                if (length > MAX_BYTES || code >>> Integer.SIZE != 0 || Flex128.isPadded(code, length)) {
                    break;
                }
                target[i++] = decoded((int) code, unsigned);
                at += length;
            }
        }
        in.position = start + at;
        return i - from;
    }

    private static int lengthOf(long flags) {
        if ((flags & 0x80) == 0) {
            return 1;
        }
        if ((flags & 0x8000) == 0) {
            return 2;
        }
        if ((flags & 0xff_ffff_ffffL) == FLAGS >>> 32) {
            return MAX_BYTES;
        }
        return (flags & 0x80_0000) == 0 ? 3 : (flags & 0x8000_0000L) == 0 ? 4 : MAX_BYTES + 1;
    }

    private static int decoded(int code, boolean unsigned) {
        return unsigned ? code : code >>> 1 ^ -(code & 1);
    }

    /// The groups of up to five bytes.
    private static long number(long word) {
        return word & 0x7f
                | word >>> 1 & 0x3f80
                | word >>> 2 & 0x1f_c000
                | word >>> 3 & 0xfe0_0000
                | word >>> 4 & 0x7_f000_0000L;
    }

    /// Each byte of the four in a lane of 16 bits.
    private static long lanes(long bytes) {
        long pairs = (bytes | bytes << 16) & 0x0000_ffff_0000_ffffL;
        return (pairs | pairs << 8) & 0xff * LANES;
    }

    private static void fourLanes(long codes, boolean unsigned, int[] target, int i) {
        if (unsigned) {
            target[i] = (int) codes & 0xffff;
            target[i + 1] = (int) (codes >>> 16) & 0xffff;
            target[i + 2] = (int) (codes >>> 32) & 0xffff;
            target[i + 3] = (int) (codes >>> 48);
            return;
        }
        // zig-zag in all lanes: a lane of ones where the lowest bit says negative
        long values = codes >>> 1 & 0x7fff * LANES ^ (codes & LANES) * 0xffff;
        target[i] = (short) values;
        target[i + 1] = (short) (values >>> 16);
        target[i + 2] = (short) (values >>> 32);
        target[i + 3] = (short) (values >>> 48);
    }
}
