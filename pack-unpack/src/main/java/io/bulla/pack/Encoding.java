// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.pack.value.Wire;
import java.lang.foreign.MemorySegment;

/// The bytes of numbers: all that the two families do differently below their grammar.
sealed interface Encoding permits FixedWidth, Flex128 {

    /// Writes one number.
    void put(BufferBuilder out, Wire wire, long value);

    /// Writes a count of one.
    void putOne(BufferBuilder out);

    /// Writes a count of one and a signed number of 32 bits.
    void putOneInt(BufferBuilder out, int value);

    /// Writes a count of one and a signed number of 64 bits.
    void putOneLong(BufferBuilder out, long value);

    /// What stands before a string, the first byte lowest: its length, behind a count of one if it is the item's only
    /// one.
    long textHead(long length, boolean one);

    /// How many bytes those are, at most eight.
    int textHeadBytes(long length, boolean one);

    /// The length of a text that stands before it in [#shortHeadBytes] bytes; less than 1 for any other.
    int shortLength(MemorySegment region, long at);

    /// How many bytes the length of a short text has.
    int shortHeadBytes();

    /// Reads one number; unsigned ones come without a sign.
    long number(ByteCursor in, Wire wire);

    /// The fewest bytes that a number takes.
    int leastBytes(Wire wire);

    void putShorts(BufferBuilder out, Wire wire, short[] values, int from, int count);

    /// Writes a run; `aside` is where it may be put together.
    void putInts(BufferBuilder out, Scratch aside, Wire wire, int[] values, int from, int count);

    void putLongs(BufferBuilder out, Wire wire, long[] values, int from, int count);

    void shorts(ByteCursor in, Wire wire, short[] target, int from, int count);

    void ints(ByteCursor in, Wire wire, int[] target, int from, int count);

    void longs(ByteCursor in, Wire wire, long[] target, int from, int count);
}
