// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.uring.CompletionLoop;
import io.bulla.posix.internal.uring.Ring;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The reads and writes of a table that the kernel has not answered. Each keeps its descriptor until then. Belongs to
/// the table's thread.
///
/// ```
/// user data of a request: 59..24 how many there were before, wrapping   23..0 place
/// ```
///
/// So no two have the same, and what takes up a completion takes no heap.
final class FixedBufferOperations {

    private static final int PLACE_BITS = 24;
    private static final long NUMBERS = (1L << 36) - 1;
    private static final int FIRST = 16;

    private final CompletionLoop loop;
    private @Nullable FixedBufferOperation[] transfers = new @Nullable FixedBufferOperation[FIRST];
    // numbers of free places, the first freeCount of them
    private int[] free = new int[FIRST];
    private int freeCount;
    private long next = 1;

    FixedBufferOperations(CompletionLoop loop) {
        this.loop = loop;
        addFree(0);
    }

    private void addFree(int from) {
        for (int place = transfers.length - 1; place >= from; place--) {
            free[freeCount++] = place;
        }
    }

    private void makeRoom() {
        int places = transfers.length;
        if (freeCount > 0) {
            return;
        }
        if (places == 1 << PLACE_BITS) {
            throw new IllegalStateException("too many reads and writes at a time: most=" + places);
        }
        @Nullable FixedBufferOperation[] more = Arrays.copyOf(transfers, 2 * places);
        free = new int[2 * places];
        transfers = more;
        addFree(places);
    }

    /// Gives the kernel one more.
    ///
    /// @param slot `null` if the table does not know the memory
    /// @param at where in a file; 0 for a socket
    /// @param ended told once the kernel has answered, and not after an exception; does not throw
    FixedBufferOperation begin(
            String call,
            byte opcode,
            Descriptor descriptor,
            @Nullable FixedBufferSlot slot,
            long at,
            long address,
            int length,
            Runnable ended)
            throws PosixException {
        makeRoom();
        int place = free[freeCount - 1];
        long id = (next & NUMBERS) << PLACE_BITS | place;
        FixedBufferOperation transfer = new FixedBufferOperation(call, slot, descriptor, ended, id);
        int fd = descriptor.enter(call);
        // before the ring is asked for room: it may take up completions, whose callbacks may begin others
        next++;
        freeCount--;
        transfers[place] = transfer;
        if (slot != null) {
            slot.transfers++;
        }
        boolean given = false;
        try {
            MemorySegment request = loop.request();
            if (slot != null && slot.emptied) {
                // by a callback: the place may be another mark's by now
                throw new IllegalStateException("mark is retired: " + slot);
            }
            request.set(JAVA_BYTE, Ring.SQE_OPCODE, opcode);
            request.set(JAVA_INT, Ring.SQE_FD, fd);
            request.set(JAVA_LONG, Ring.SQE_OFFSET, at);
            request.set(JAVA_LONG, Ring.SQE_ADDRESS, address);
            request.set(JAVA_INT, Ring.SQE_LENGTH, length);
            request.set(JAVA_SHORT, Ring.SQE_BUFFER, (short) (slot == null ? 0 : slot.index));
            request.set(JAVA_LONG, Ring.SQE_USER_DATA, id);
            given = true;
        } finally {
            if (!given) {
                over(transfer);
            }
        }
        try {
            loop.handOver();
        } catch (PosixException notNow) {
            // the ring has the request, so its end is told: the next progress() hands it over, or says why not
            return transfer;
        }
        return transfer;
    }

    /// Asks the kernel to end some; each one is answered all the same.
    void cancel(Predicate<FixedBufferOperation> which) throws PosixException {
        // their numbers first: completions may be taken up on the way
        long[] ids = Stream.of(transfers)
                .filter(Objects::nonNull)
                .filter(which)
                .mapToLong(each -> each.number)
                .toArray();
        for (long id : ids) {
            loop.cancel(id);
        }
        loop.give();
    }

    /// The kernel's answer to one.
    void answered(long id, int result) {
        long place = id & (1 << PLACE_BITS) - 1;
        FixedBufferOperation transfer = place < transfers.length ? transfers[(int) place] : null;
        if (transfer != null && transfer.number == id) {
            over(transfer);
            transfer.answered(result);
        }
    }

    private void over(FixedBufferOperation transfer) {
        int place = (int) transfer.number & (1 << PLACE_BITS) - 1;
        transfers[place] = null;
        free[freeCount++] = place;
        if (transfer.slot != null) {
            transfer.slot.transfers--;
        }
        transfer.descriptor.leave();
    }

    boolean isEmpty() {
        return freeCount == transfers.length;
    }
}
