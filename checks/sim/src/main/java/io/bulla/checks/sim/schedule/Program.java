// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.schedule;

import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/// What a node's program does with a message, by its tag, and what is in messages.
///
/// ```
/// | id 4 | sender's life 4 | order 4 | bytes that follow from the id |
/// ```
public enum Program {
    QUICK,
    SLOW,
    KEEP,
    THROW,
    /// Sends an answer and waits until that is acknowledged.
    REPLY,
    /// Has no receiver at first.
    LATE,
    PLAIN,
    OTHER;

    public static final int TAGS = 16;
    public static final int LEAST = 12;
    /// Tags from here on are of messages without a byte: the tag tells the id.
    public static final int EMPTY = 1 << 10;

    private static final Program[] ALL = values();
    private static final int REPLIES = 1 << 20;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final byte[] PATTERN = new byte[(1 << 20) + 256];

    static {
        for (int i = 0; i < PATTERN.length; i++) {
            PATTERN[i] = (byte) (i * 7 + (i >> 8));
        }
    }

    public static Program of(int tag) {
        return tag >= TAGS || tag < 0 ? QUICK : ALL[tag % ALL.length];
    }

    /// Whether it does its work without waiting for anything.
    public boolean isPrompt() {
        return this != SLOW && this != REPLY;
    }

    public static int reply(int id, int rank) {
        return id + REPLIES * (rank + 1);
    }

    public static byte[] content(int id, int bytes) {
        return Arrays.copyOfRange(PATTERN, id & 0xff, (id & 0xff) + bytes);
    }

    public static int id(SealedBuffer buffer) {
        return buffer.iovec().get(INT, 0);
    }

    public static int order(SealedBuffer buffer) {
        return buffer.iovec().get(INT, 8);
    }

    /// Whether all bytes are those of the id.
    public static boolean isWhole(SealedBuffer buffer, int id, long bytes) {
        if (buffer.byteSize() != bytes) {
            return false;
        }
        MemorySegment expected = MemorySegment.ofArray(PATTERN).asSlice(id & 0xff, bytes - LEAST);
        long at = -LEAST;
        for (int i = 0; i < buffer.iovec().regionCount(); i++) {
            MemorySegment region = buffer.iovec().region(i);
            long skip = Math.min(region.byteSize(), Math.max(0, -at));
            long length = region.byteSize() - skip;
            at += skip;
            if (length > 0 && region.asSlice(skip).mismatch(expected.asSlice(at, length)) >= 0) {
                return false;
            }
            at += length;
        }
        return true;
    }
}
