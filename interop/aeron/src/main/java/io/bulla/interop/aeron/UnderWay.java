// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import java.nio.ByteBuffer;

/// Records that were said and are not known to have arrived, by their numbers. Under its owner's lock; allocates
/// nothing once it is there.
///
/// ```
///          first                 next
///   arrived  |  said, perhaps lost | not said yet
/// ```
final class UnderWay {

    /// Beyond these nothing more is said before some are known to have arrived.
    // a power of two
    static final int MOST = 1024;

    private final int bytes;
    private final ByteBuffer records;
    private long first;
    private long next;

    /// @param bytes of a record
    UnderWay(int bytes) {
        this.bytes = bytes;
        this.records = ByteBuffer.allocate(MOST * bytes);
    }

    boolean isFull() {
        return next - first == MOST;
    }

    /// The number of the next one.
    long next() {
        return next;
    }

    /// Where the next one is to be put; it counts from [#said()] on.
    ByteBuffer room() {
        return at(next);
    }

    /// The one that was put there has its number.
    long said() {
        return next++;
    }

    /// The record of a number that has not arrived. Good until the next call.
    ByteBuffer at(long number) {
        int from = (int) (number & MOST - 1) * bytes;
        return records.limit(from + bytes).position(from);
    }

    /// All below a number have arrived; that may be known already.
    ///
    /// @return false if that many were not said
    boolean arrived(long upTo) {
        if (upTo < 0 || upTo > next) {
            return false;
        }
        first = Math.max(first, upTo);
        return true;
    }

    /// The number of the oldest that may have been lost.
    long first() {
        return first;
    }

    @Override
    public String toString() {
        return "said=" + next + " arrived=" + first;
    }
}
