// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.uring.Ring;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The places of a table, as the kernel has them.
///
/// ```
/// empty --fill--> filled --empty--> emptied --the tag's completion--> empty
/// ```
///
/// ```
/// io_uring_rsrc_register: 0 nr  4 flags  16 data  24 tags                    32 bytes
/// io_uring_rsrc_update2:  0 offset  8 data  16 tags  24 nr                   32 bytes
/// ```
///
/// A place's tag is its number: it is not filled again before its tag has come. Belongs to the table's thread.
final class FixedBufferSlots {

    private static final long REGISTER_BUFFERS2 = 15;
    private static final long REGISTER_BUFFERS_UPDATE = 16;
    private static final int SPARSE = 1;
    private static final int ARGUMENT_BYTES = 32;
    private static final long TAG = 1L << 62;

    private final Ring ring;
    private final int most;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment argument = arena.allocate(ARGUMENT_BYTES, 8);
    private final MemorySegment memory = arena.allocate(16, 8);
    private final MemorySegment tag = arena.allocate(8, 8);
    // numbers of empty places, the first freeCount of them
    private final int[] free;
    private int freeCount;
    // by place: what takes up a completion takes no heap
    private final @Nullable FixedBufferSlot[] slots;
    private long next = 1;

    FixedBufferSlots(Ring ring, int most) {
        this.ring = ring;
        this.most = most;
        this.slots = new @Nullable FixedBufferSlot[most];
        this.free = new int[most];
        for (int i = 0; i < most; i++) {
            free[i] = most - 1 - i;
        }
        this.freeCount = most;
    }

    /// Has the kernel make the table, without memory. Once.
    void make() throws PosixException {
        argument.set(JAVA_INT, 0, most);
        argument.set(JAVA_INT, 4, SPARSE);
        check("BUFFERS2", ring.register(REGISTER_BUFFERS2, argument, ARGUMENT_BYTES));
    }

    /// Has the kernel know memory.
    ///
    /// @throws RegistrationRefusedException if there is no place, or the kernel refuses
    FixedBufferSlot fill(long address, long length) throws RegistrationRefusedException {
        if (freeCount == 0) {
            throw new RegistrationRefusedException("table is full: slots=" + most);
        }
        int place = free[freeCount - 1];
        FixedBufferSlot slot = new FixedBufferSlot(this, place, next, address, length);
        long result = update(slot, address, length);
        if (result < 1) {
            throw new RegistrationRefusedException("io_uring_register: opcode=BUFFERS_UPDATE errno=" + -result);
        }
        // nothing below can fail
        next++;
        freeCount--;
        slots[place] = slot;
        return slot;
    }

    /// Has the kernel forget the memory, once no read or write uses it: the tag says so.
    void empty(FixedBufferSlot slot) throws PosixException {
        check("BUFFERS_UPDATE", update(slot, 0, 0));
    }

    /// Whether a completion is a tag's.
    static boolean isTag(long userData) {
        return (userData & TAG) != 0;
    }

    /// The kernel has no page of it any more. It takes no heap: the completion is gone.
    ///
    /// @param userData of the tag's completion
    /// @return whom to tell; `null` if there is none
    @Nullable
    Runnable emptied(long userData) {
        long place = userData & ~TAG;
        FixedBufferSlot slot = place < most ? slots[(int) place] : null;
        if (slot == null) {
            return null;
        }
        slots[slot.index] = null;
        free[freeCount++] = slot.index;
        return slot.memoryIsFree;
    }

    /// A mark of this table.
    ///
    /// @throws IllegalArgumentException if it is another device's
    FixedBufferSlot of(MemoryRegistration mark) {
        if (mark instanceof FixedBufferSlot slot && slot.isOf(this)) {
            return slot;
        }
        throw new IllegalArgumentException("mark of another device: " + mark);
    }

    /// Whether reads and writes may still begin.
    boolean isFilled(FixedBufferSlot slot) {
        return slots[slot.index] == slot && slot.memoryIsFree == null;
    }

    /// Those that are filled, or not empty yet.
    int size() {
        return most - freeCount;
    }

    List<FixedBufferSlot> all() {
        return Stream.of(slots).filter(Objects::nonNull).toList();
    }

    /// Once every place is empty, or the table was not made.
    void close() {
        arena.close();
    }

    private long update(FixedBufferSlot slot, long address, long length) {
        memory.set(JAVA_LONG, 0, address);
        memory.set(JAVA_LONG, 8, length);
        tag.set(JAVA_LONG, 0, length == 0 ? 0 : TAG | slot.index);
        argument.fill((byte) 0);
        argument.set(JAVA_INT, 0, slot.index);
        argument.set(JAVA_LONG, 8, memory.address());
        argument.set(JAVA_LONG, 16, tag.address());
        argument.set(JAVA_INT, 24, 1);
        return ring.register(REGISTER_BUFFERS_UPDATE, argument, ARGUMENT_BYTES);
    }

    private static void check(String opcode, long result) throws PosixException {
        if (result < 0) {
            throw CallFailure.of("io_uring_register", (int) -result, "opcode=" + opcode);
        }
    }
}
