// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.posix.SealRefusedException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The records between a lender and a borrower, of fixed size, big-endian.
///
/// ```
/// to the borrower, 32 bytes:  0 slab, 8 bytes  8 slot      12 generation  16 offset in the slab  24 length
/// to the lender, 16 bytes:    0 slot           4 generation               8 slab
/// ```
///
/// A slot of at least 0 is a lease, lent or given back. Others say what else the record is:
///
/// | slot | to the borrower | to the lender |
/// |---|---|---|
/// | -1 | the greeting, with the string's descriptor | the greeting, with the borrower's token |
/// | -2 | a slab, with its descriptor, and its length | - |
/// | -3 | to unmap a slab | it is unmapped, and nothing on it is lent |
/// | -4 | so many bytes follow | - |
/// | -5 | a message in a sealed file, with its descriptor, its offset and length; no lease | - |
/// | -6 | the same, kept for a record that another connection carries | - |
/// | -7 | in the place of a greeting: why there is none, an error number in the generation, a count and a limit | - |
/// | -8 | a word: what in the generation, two numbers in offset and length; 32 bytes follow | what, and a number |
///
/// Sealed files are numbered where the others have the slab.
record SlabRecord(long slab, int slot, int generation, long offset, long length) {

    static final int HELLO = -1;
    static final int SLAB = -2;
    static final int UNMAP = -3;
    static final int BYTES = -4;
    static final int SEALED = -5;
    static final int FILE = -6;
    static final int REFUSED = -7;
    static final int WORD = -8;

    /// The greeting's generation, and to the borrower its slab: "BSLB".
    static final int VERSION = 1;

    static final long MAGIC = 0x42534c42;

    static final long TO_BORROWER = 32;
    static final long TO_LENDER = 16;
    /// With the bytes that follow it.
    static final long WORD_BYTES = 2 * TO_BORROWER;

    private static final ValueLayout.OfInt INT = JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    /// @param what is wrong with it
    SealRefusedException refused(String what) {
        return new SealRefusedException("not what a lender says: " + what + ": " + this);
    }

    static SlabRecord lent(MemorySegment from) {
        return new SlabRecord(
                from.get(LONG, 0), from.get(INT, 8), from.get(INT, 12), from.get(LONG, 16), from.get(LONG, 24));
    }

    /// To the borrower, by another connection.
    static SlabRecord carried(ByteBuffer from) {
        ByteBuffer words = from.slice().order(ByteOrder.BIG_ENDIAN);
        return new SlabRecord(
                words.getLong(0), words.getInt(8), words.getInt(12), words.getLong(16), words.getLong(24));
    }

    static SlabRecord returned(MemorySegment from, long at) {
        return new SlabRecord(from.get(LONG, at + 8), from.get(INT, at), from.get(INT, at + 4), 0, 0);
    }

    static void lend(MemorySegment to, long slab, int slot, int generation, long offset, long length) {
        to.set(LONG, 0, slab);
        to.set(INT, 8, slot);
        to.set(INT, 12, generation);
        to.set(LONG, 16, offset);
        to.set(LONG, 24, length);
    }

    static void giveBack(MemorySegment to, int slot, int generation, long slab) {
        to.set(INT, 0, slot);
        to.set(INT, 4, generation);
        to.set(LONG, 8, slab);
    }
}
