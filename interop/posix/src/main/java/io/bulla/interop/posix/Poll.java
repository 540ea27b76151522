// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Waits on many descriptors at once. One thread's.
///
/// ```
/// pollfd:  0 fd  4 events  6 revents      8 bytes each
/// ```
final class Poll {

    /// The kernel does not look at this place.
    static final int NONE = -1;

    private static final long ENTRY = 8;
    private static final int FIRST = 64;

    private MemorySegment entries = Arena.ofAuto().allocate(FIRST * ENTRY, ENTRY);
    private int count;

    void clear() {
        count = 0;
    }

    /// @param fd or [#NONE]
    /// @param events 0 for the end alone
    void add(int fd, short events) {
        if (count * ENTRY == entries.byteSize()) {
            MemorySegment longer = Arena.ofAuto().allocate(2 * entries.byteSize(), ENTRY);
            longer.copyFrom(entries);
            entries = longer;
        }
        entries.set(JAVA_INT, count * ENTRY, fd);
        entries.set(JAVA_SHORT, count * ENTRY + 4, events);
        entries.set(JAVA_SHORT, count * ENTRY + 6, (short) 0);
        count++;
    }

    /// @param millis how long at most; -1 for ever
    void await(int millis) throws PosixException {
        long result = Call.current().poll(entries, count, millis);
        if (result < 0) {
            throw PosixException.of("poll", (int) -result, "descriptors=" + count);
        }
    }

    /// Whether something was seen at a place: what was asked for, or an end.
    boolean saw(int index) {
        return entries.get(JAVA_SHORT, index * ENTRY + 6) != 0;
    }
}
