// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.util.concurrent.atomic.LongAdder;

/// Counts copies out of an [IoVec] in this process, and their bytes.
///
/// Every copy that Bulla's own code makes of sealed bytes goes through [IoVec#copyTo] and is counted there,
/// where the bytes move. Take a snapshot before and after, and subtract. Copies by others, through a view, are
/// seen here only if the edge that has them made says so, by [#copiedByAddress].
///
/// @param copies number of copy calls, empty ones left out
/// @param bytes bytes moved by them
public record CopyTally(long copies, long bytes) {

    private static final LongAdder COPIES = new LongAdder();
    private static final LongAdder BYTES = new LongAdder();

    static void add(long bytes) {
        COPIES.increment();
        BYTES.add(bytes);
    }

    /// Counts a copy that a transport made by address: for an edge whose transport copies, and cannot count.
    ///
    /// @param bytes moved, at least 0
    /// @throws IllegalArgumentException if it is negative
    public static void copiedByAddress(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("number of bytes copied is negative: bytes=" + bytes);
        }
        if (bytes > 0) {
            add(bytes);
        }
    }

    /// The process-wide tally so far.
    ///
    /// @return a snapshot, exact when no copy is under way
    public static CopyTally snapshot() {
        return new CopyTally(COPIES.sum(), BYTES.sum());
    }

    /// The difference to an earlier snapshot.
    ///
    /// @param earlier a snapshot taken before this one
    /// @return the difference
    public CopyTally since(CopyTally earlier) {
        return new CopyTally(copies - earlier.copies, bytes - earlier.bytes);
    }
}
