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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The reads and writes of a table that the kernel has not answered, by the user data of their requests: numbers from
/// 1 on. Each keeps its descriptor until then. Belongs to the table's thread.
final class FixedBufferOperations {

    private final CompletionLoop loop;
    private final Map<Long, FixedBufferOperation> transfers = new HashMap<>();
    private long next = 1;

    FixedBufferOperations(CompletionLoop loop) {
        this.loop = loop;
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
        FixedBufferOperation transfer = new FixedBufferOperation(call, slot, descriptor, ended);
        int fd = descriptor.enter(call);
        long id = next;
        boolean given = false;
        try {
            transfers.put(id, transfer);
            MemorySegment request = loop.request();
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
                transfers.remove(id);
                descriptor.leave();
            }
        }
        next++;
        if (slot != null) {
            slot.transfers++;
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
        List<Long> ids = transfers.entrySet().stream()
                .filter(each -> which.test(each.getValue()))
                .map(Map.Entry::getKey)
                .toList();
        for (long id : ids) {
            loop.cancel(id);
        }
        loop.give();
    }

    /// The kernel's answer to one.
    void answered(long id, int result) {
        FixedBufferOperation transfer = transfers.remove(id);
        if (transfer != null) {
            if (transfer.slot != null) {
                transfer.slot.transfers--;
            }
            transfer.descriptor.leave();
            transfer.answered(result);
        }
    }

    boolean isEmpty() {
        return transfers.isEmpty();
    }
}
