// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.NativeAccess;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.internal.uring.CompletionLoop;
import io.bulla.posix.internal.uring.Ring;
import io.bulla.posix.socket.PosixSocket;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// A table of memory that an io_uring knows, pinned by the kernel: slots that are filled, used by reads and
/// writes, and emptied.
///
/// ```
/// empty --register--> filled --retire--> emptied, its transfers cancelled --the tag's completion--> empty
/// ```
///
/// The kernel keeps the pages of an emptied slot until the last read or write that uses it has ended, and tells
/// so by the slot's *tag*. A read that waits for its peer would else write into memory that has another owner by
/// then. So the fence is: empty the slot, cancel, and wait for the tag. A slot's tag is its number, and it is not
/// filled again before its tag has come; tables are never cloned, for a clone's pages outlive the tag.
///
/// Registered memory is no faster for sockets (docs/registration.md has the figures), so no
/// [Outbox][io.bulla.posix.socket.Outbox] uses it.
///
/// Belongs to the platform thread that opened it; only [#retire] is any thread's: what it asks for happens with
/// the owner's next [#progress].
public final class FixedBufferTable implements Registrar {

    private static final int ENTRIES = 64;
    private static final int MOST_SLOTS = 1 << 14;
    private static final long MOST_BYTES = 1L << 30;
    private static final Runnable NOTHING = () -> {};
    private static final Duration KERNEL_LETS_GO = Duration.ofSeconds(10);

    // what the kernel reads stays reachable, also if the program forgets the table: healing must not free it
    private static final Set<FixedBufferTable> OPEN = ConcurrentHashMap.newKeySet();

    private final CompletionLoop loop;
    private final DeviceCapabilities capabilities;
    private final FixedBufferSlots slots;
    private final FixedBufferOperations transfers;
    // from any thread to the owner
    private final FixedBufferSlot.Retired retired = new FixedBufferSlot.Retired();
    private int done;
    private boolean closed;

    private FixedBufferTable(Ring ring, int mostSlots) {
        this.loop = new CompletionLoop("table", ring, this::completed);
        this.slots = new FixedBufferSlots(ring, mostSlots);
        this.transfers = new FixedBufferOperations(loop);
        this.capabilities = new DeviceCapabilities(
                "io_uring", EnumSet.allOf(Access.class), true, true, mostSlots, MOST_BYTES, Fence.COMPLETION);
    }

    /// An empty table in a ring of its own.
    ///
    /// @param mostSlots 1 to 16,384
    /// @return a table of the calling thread's
    /// @throws PosixException with `ENOSYS`, `EPERM` or `EINVAL` where the kernel has no such tables
    /// @throws IllegalArgumentException if there are to be too few slots, or too many
    /// @throws WrongThreadException if the calling thread is virtual
    /// @throws UnsupportedOperationException if native access is not enabled
    public static FixedBufferTable open(int mostSlots) throws PosixException {
        NativeAccess.linker();
        if (mostSlots < 1 || mostSlots > MOST_SLOTS) {
            throw new IllegalArgumentException("slots of a table: wanted=" + mostSlots + " most=" + MOST_SLOTS);
        }
        Thread caller = Thread.currentThread();
        if (caller.isVirtual()) {
            throw new WrongThreadException("a table belongs to a platform thread: caller=" + caller.getName());
        }
        Ring ring = new Ring(ENTRIES);
        @Nullable FixedBufferTable table = null;
        try {
            table = new FixedBufferTable(ring, mostSlots);
            if (!ring.supports(Ring.OP_READ_FIXED) || !ring.supports(Ring.OP_ASYNC_CANCEL)) {
                throw new PosixException("io_uring_register", Errno.ENOSYS.number(), "opcode=READ_FIXED");
            }
            table.slots.make();
            OPEN.add(table);
            return table;
        } catch (Throwable failure) {
            ring.close();
            if (table != null) {
                OPEN.remove(table);
                table.slots.close();
            }
            throw failure;
        }
    }

    @Override
    public DeviceCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public MemoryRegistration register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        if (!loop.isOwner()) {
            throw new RegistrationRefusedException(
                    "table belongs to another thread: owner=" + loop.owner().getName());
        }
        if (closed) {
            throw new RegistrationRefusedException("table is closed");
        }
        takeUp();
        if (closed) {
            // by what was told that its memory is free
            throw new RegistrationRefusedException("table is closed");
        }
        return slots.fill(slab.address() + offset, length);
    }

    /// Empties the slot and cancels what still uses it; at once on the owner's thread, with its next
    /// [#progress] else.
    @Override
    public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
        FixedBufferSlot slot = slots.of(mark);
        if (slot.ask(memoryIsFree)) {
            retired.put(slot);
        }
        if (loop.isOwner() && !closed) {
            takeUp();
        }
    }

    /// Sends registered bytes, on a socket that waits if it has to.
    ///
    /// @param to connected
    /// @param from of this table
    /// @param address of the first byte
    /// @param length in bytes, at least 1
    /// @return to be asked whether it is done; the kernel may take less
    /// @throws PosixException if the socket is closed, or the kernel refuses
    /// @throws IllegalArgumentException if the mark has no such bytes
    public FixedBufferOperation send(PosixSocket to, MemoryRegistration from, long address, int length)
            throws PosixException {
        return begin("WRITE_FIXED", Ring.OP_WRITE_FIXED, to, from, address, length);
    }

    /// Receives into registered memory what the peer sends next, whenever it does.
    ///
    /// @param from connected
    /// @param into of this table
    /// @param address of the first byte
    /// @param length in bytes, at least 1
    /// @return to be asked whether it is done; it may be less
    /// @throws PosixException if the socket is closed, or the kernel refuses
    /// @throws IllegalArgumentException if the mark has no such bytes
    public FixedBufferOperation receive(PosixSocket from, MemoryRegistration into, long address, int length)
            throws PosixException {
        return begin("READ_FIXED", Ring.OP_READ_FIXED, from, into, address, length);
    }

    /// Takes up what the kernel has done, and what other threads asked for.
    ///
    /// @param millis how long to wait if nothing is there; 0 not to wait
    /// @return transfers and retirements that are done since it was asked last
    /// @throws PosixException if the system refuses
    public int progress(int millis) throws PosixException {
        checkOwner();
        if (closed) {
            return 0;
        }
        takeUp();
        loop.give();
        loop.takeUp();
        if (done == 0 && millis != 0) {
            loop.await(millis);
        }
        int now = done;
        done = 0;
        return now;
    }

    /// Slots that are filled, or not empty yet.
    ///
    /// @return at least 0
    public int filled() {
        checkOwner();
        return slots.size();
    }

    /// Empties every slot, cancels every transfer, and waits until the kernel has let go of all memory.
    ///
    /// @throws IllegalStateException if it does not; it may be called again
    /// @throws WrongThreadException if the caller is not the owner
    @Override
    public void close() {
        checkOwner();
        if (closed) {
            return;
        }
        long end = System.nanoTime() + KERNEL_LETS_GO.toNanos();
        try {
            takeUp();
            for (FixedBufferSlot each : slots.all()) {
                empty(each);
            }
            transfers.cancel(_ -> true);
            while (slots.size() > 0 || !transfers.isEmpty()) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("the kernel still has memory: slots=" + slots.size());
                }
                progress(10);
            }
        } catch (PosixException refused) {
            throw new IllegalStateException("the ring does not tell what it has: slots=" + slots.size(), refused);
        }
        if (!closed) {
            closed = true;
            OPEN.remove(this);
            loop.close();
            slots.close();
        }
    }

    @Override
    public String toString() {
        return "FixedBufferTable[slots=" + capabilities.mostMarks() + " owner="
                + loop.owner().getName() + "]";
    }

    /// Writes registered bytes to a file.
    ///
    /// @param at where in the file
    /// @param ended told once the kernel has answered, and not after an exception; does not throw
    FixedBufferOperation write(
            Descriptor to, long at, MemoryRegistration from, long address, int length, Runnable ended)
            throws PosixException {
        return begin("WRITE_FIXED", Ring.OP_WRITE_FIXED, to, marked(from, address, length), at, address, length, ended);
    }

    /// Writes bytes to a file that the table does not know.
    FixedBufferOperation writePlain(Descriptor to, long at, long address, int length, Runnable ended)
            throws PosixException {
        return begin("WRITE", Ring.OP_WRITE, to, null, at, address, length, ended);
    }

    /// Has a file's bytes written to its device: those that were written before this.
    FixedBufferOperation sync(Descriptor file) throws PosixException {
        return begin("FSYNC", Ring.OP_FSYNC, file, null, 0, 0, 0, NOTHING);
    }

    /// Asks the kernel to end what waits on a descriptor; each one is answered all the same.
    void cancelAll(Descriptor on) throws PosixException {
        transfers.cancel(transfer -> transfer.descriptor == on);
    }

    private FixedBufferOperation begin(
            String call, byte opcode, PosixSocket socket, MemoryRegistration mark, long address, int length)
            throws PosixException {
        FixedBufferSlot slot = marked(mark, address, length);
        return begin(call, opcode, SocketDoor.stream(socket).descriptor(), slot, 0, address, length, NOTHING);
    }

    private FixedBufferSlot marked(MemoryRegistration mark, long address, int length) {
        checkOwner();
        FixedBufferSlot slot = slots.of(mark);
        long offset = address - slot.address;
        if (length < 1 || offset < 0 || offset > slot.length - length) {
            throw new IllegalArgumentException(
                    "not in the mark: offset=" + offset + " length=" + length + " marked=" + slot.length);
        }
        if (closed || !slots.isFilled(slot)) {
            throw new IllegalStateException("mark is retired: " + slot);
        }
        return slot;
    }

    private FixedBufferOperation begin(
            String call,
            byte opcode,
            Descriptor descriptor,
            @Nullable FixedBufferSlot slot,
            long at,
            long address,
            int length,
            Runnable ended)
            throws PosixException {
        checkOwner();
        if (closed) {
            throw new IllegalStateException("table is closed: call=" + call);
        }
        return transfers.begin(call, opcode, descriptor, slot, at, address, length, ended);
    }

    private void takeUp() {
        for (FixedBufferSlot slot = retired.take(); slot != null; slot = retired.take()) {
            slot.retire();
            boolean done = false;
            try {
                empty(slot);
                done = true;
            } catch (PosixException refused) {
                // its memory stays out until the table is closed
                done = true;
            } finally {
                if (!done) {
                    retired.putBack(slot);
                }
            }
        }
        // an idle slot's tag is there already
        loop.takeUp();
    }

    private void empty(FixedBufferSlot slot) throws PosixException {
        if (!slot.emptied) {
            slots.empty(slot);
            slot.emptied = true;
        }
        if (slot.transfers > 0) {
            transfers.cancel(transfer -> transfer.slot == slot);
        }
    }

    private void completed(long userData, int result, int flags) {
        done++;
        if (FixedBufferSlots.isTag(userData)) {
            Runnable told = slots.emptied(userData);
            if (told != null) {
                told.run();
            }
        } else {
            transfers.answered(userData, result);
        }
    }

    void checkOwner() {
        loop.checkOwner();
    }
}
