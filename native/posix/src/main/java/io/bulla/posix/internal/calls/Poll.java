// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/// Waits on many descriptors at once. One thread's.
///
/// ```
/// pollfd:  0 fd  4 events  6 revents      8 bytes each
/// ```
public final class Poll {

    /// A place without a descriptor: nothing is seen there.
    public static final int NONE = -1;

    private static final long ENTRY = 8;
    private static final int FIRST = 64;
    private static final long PAUSE_NANOS = 5_000_000;

    private MemorySegment entries = Arena.ofAuto().allocate(FIRST * ENTRY, ENTRY);
    private int count;
    // the entry of each place, or NONE
    private int[] entryOf = new int[FIRST];
    private int places;

    public void clear() {
        count = 0;
        places = 0;
    }

    /// The next place. It has an entry only if there is a descriptor: the kernel refuses more entries than the
    /// process may have descriptors.
    ///
    /// @param fd or [#NONE]
    /// @param events 0 for the end alone
    public void add(int fd, short events) {
        if (places == entryOf.length) {
            entryOf = Arrays.copyOf(entryOf, 2 * places);
        }
        if (fd == NONE) {
            entryOf[places++] = NONE;
            return;
        }
        if (count * ENTRY == entries.byteSize()) {
            MemorySegment longer = Arena.ofAuto().allocate(2 * entries.byteSize(), ENTRY);
            longer.copyFrom(entries);
            entries = longer;
        }
        entries.set(JAVA_INT, count * ENTRY, fd);
        entries.set(JAVA_SHORT, count * ENTRY + 4, events);
        entries.set(JAVA_SHORT, count * ENTRY + 6, (short) 0);
        entryOf[places++] = count++;
    }

    /// @param millis how long at most; -1 for ever
    public void await(int millis) throws PosixException {
        Call call = Call.current();
        long result = call.poll(entries, count, millis);
        if (result == -Errno.EINVAL.number()) {
            // the limit was lowered below what is open: each by itself
            for (int i = 0; i < count; i++) {
                result = call.poll(entries.asSlice(i * ENTRY, ENTRY), 1, 0);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        if (result < 0) {
            throw CallFailure.of("poll", (int) -result, "descriptors=" + count);
        }
    }

    /// Whether something was seen at a place: what was asked for, or an end.
    public boolean saw(int index) {
        int entry = entryOf[index];
        return entry != NONE && entries.get(JAVA_SHORT, entry * ENTRY + 6) != 0;
    }
}
