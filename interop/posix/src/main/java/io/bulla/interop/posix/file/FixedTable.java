// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.interop.posix.Errno;
import io.bulla.interop.posix.PosixException;
import io.bulla.interop.posix.internal.calls.Call;
import io.bulla.interop.posix.internal.calls.CallFailure;
import io.bulla.interop.posix.internal.calls.Descriptor;
import io.bulla.interop.posix.internal.calls.Libc;
import io.bulla.interop.posix.internal.calls.NativeAccess;
import io.bulla.interop.posix.internal.stream.SocketDoor;
import io.bulla.interop.posix.internal.uring.Ring;
import io.bulla.interop.posix.socket.PosixSocket;
import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Ending;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Mark;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.Traits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
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
/// then. So the fence is: empty the slot, cancel, and wait for the tag. Each mark has a key of its own, and so
/// each tag; tables are never cloned, for a clone's pages outlive the tag.
///
/// Registered memory is no faster for sockets (docs/registration.md has the figures), so no
/// [Outbox][io.bulla.interop.posix.socket.Outbox] uses it.
///
/// ```
/// io_uring_rsrc_register: 0 nr  4 flags  16 data  24 tags                    32 bytes
/// io_uring_rsrc_update2:  0 offset  8 data  16 tags  24 nr                   32 bytes
/// ```
///
/// Belongs to the platform thread that opened it; only [#retire] is any thread's: what it asks for happens with
/// the owner's next [#progress].
public final class FixedTable implements Registrar {

    private static final long REGISTER_BUFFERS2 = 15;
    private static final long REGISTER_BUFFERS_UPDATE = 16;
    private static final int SPARSE = 1;
    private static final int ARGUMENT_BYTES = 32;
    private static final int ENTRIES = 64;
    private static final int MOST_SLOTS = 1 << 14;
    private static final long MOST_BYTES = 1L << 30;
    private static final long TAG = 1L << 62;
    private static final long CANCEL = 1L << 61;
    private static final Runnable NOTHING = () -> {};
    private static final Duration KERNEL_LETS_GO = Duration.ofSeconds(10);

    /// One life of a place in the table.
    static final class Slot implements Mark {

        private final FixedTable table;
        private final int index;
        private final long key;
        private final long address;
        private final long length;
        private int transfers;
        private @Nullable Runnable memoryIsFree;

        private Slot(FixedTable table, int index, long key, long address, long length) {
            this.table = table;
            this.index = index;
            this.key = key;
            this.address = address;
            this.length = length;
        }

        int index() {
            return index;
        }

        @Override
        public long key() {
            return key;
        }

        @Override
        public String toString() {
            return "slot=" + index + " key=" + key + " bytes=" + length + " transfers=" + transfers;
        }
    }

    private record Retirement(Slot slot, Runnable memoryIsFree) {}

    private final Thread owner = Thread.currentThread();
    private final Traits traits;
    private final Ring ring;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment argument = arena.allocate(ARGUMENT_BYTES, 8);
    private final MemorySegment memory = arena.allocate(16, 8);
    private final MemorySegment tag = arena.allocate(8, 8);
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final Map<Long, Slot> slots = new HashMap<>();
    private final Map<Long, FixedTransfer> transfers = new HashMap<>();
    // from any thread to the owner
    private final Queue<Retirement> retirements = new ConcurrentLinkedQueue<>();
    private long next = 1;
    private int done;
    private boolean closed;

    private FixedTable(Ring ring, int mostSlots) {
        this.ring = ring;
        this.traits = new Traits(
                "io_uring", EnumSet.allOf(Access.class), true, true, mostSlots, MOST_BYTES, Fence.COMPLETION);
        for (int i = 0; i < mostSlots; i++) {
            free.add(i);
        }
    }

    /// An empty table in a ring of its own.
    ///
    /// @param mostSlots 1 to 16,384
    /// @return a table of the calling thread's
    /// @throws PosixException with `ENOSYS`, `EPERM` or `EINVAL` where the kernel has no such tables
    /// @throws IllegalArgumentException if there are to be too few slots, or too many
    /// @throws WrongThreadException if the calling thread is virtual
    /// @throws UnsupportedOperationException if native access is not enabled
    public static FixedTable open(int mostSlots) throws PosixException {
        NativeAccess.linker();
        if (mostSlots < 1 || mostSlots > MOST_SLOTS) {
            throw new IllegalArgumentException("slots of a table: wanted=" + mostSlots + " most=" + MOST_SLOTS);
        }
        Thread caller = Thread.currentThread();
        if (caller.isVirtual()) {
            throw new WrongThreadException("a table belongs to a platform thread: caller=" + caller.getName());
        }
        Ring ring = new Ring(ENTRIES);
        FixedTable table = new FixedTable(ring, mostSlots);
        try {
            if (!ring.supports(Ring.OP_READ_FIXED) || !ring.supports(Ring.OP_ASYNC_CANCEL)) {
                throw new PosixException("io_uring_register", Errno.ENOSYS.number(), "opcode=READ_FIXED");
            }
            table.argument.set(JAVA_INT, 0, mostSlots);
            table.argument.set(JAVA_INT, 4, SPARSE);
            check("BUFFERS2", ring.register(REGISTER_BUFFERS2, table.argument, ARGUMENT_BYTES));
            return table;
        } catch (Throwable failure) {
            ring.close();
            table.arena.close();
            throw failure;
        }
    }

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public Mark register(Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        if (Thread.currentThread() != owner) {
            throw new RegistrationRefusedException("table belongs to another thread: owner=" + owner.getName());
        }
        if (closed) {
            throw new RegistrationRefusedException("table is closed");
        }
        takeUp();
        Integer place = free.peek();
        if (place == null) {
            throw new RegistrationRefusedException("table is full: slots=" + traits.mostMarks());
        }
        Slot slot = new Slot(this, place, next, slab.address() + offset, length);
        slots.put(slot.key, slot);
        long result = update(slot, slot.address, length);
        if (result < 1) {
            slots.remove(slot.key);
            throw new RegistrationRefusedException("io_uring_register: opcode=BUFFERS_UPDATE errno=" + -result);
        }
        // nothing below can fail
        next++;
        free.remove();
        return slot;
    }

    /// Empties the slot and cancels what still uses it; at once on the owner's thread, with its next
    /// [#progress] else.
    @Override
    public void retire(Mark mark, Ending ending, Runnable memoryIsFree) {
        Retirement asked = new Retirement(of(mark), memoryIsFree);
        retirements.add(asked);
        if (Thread.currentThread() == owner && !closed) {
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
    public FixedTransfer send(PosixSocket to, Mark from, long address, int length) throws PosixException {
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
    public FixedTransfer receive(PosixSocket from, Mark into, long address, int length) throws PosixException {
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
        ring.enter();
        ring.reap(this::completed);
        if (done == 0 && millis != 0) {
            long result = Call.current().poll(ring.fd(), Libc.POLLIN, millis);
            if (result < 0) {
                throw CallFailure.of("poll", (int) -result, "ring=" + ring.fd());
            }
            ring.reap(this::completed);
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
            for (Slot each : slots.values()) {
                empty(each);
            }
            cancelEach(_ -> true);
            while (!slots.isEmpty() || !transfers.isEmpty()) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("the kernel still has memory: slots=" + slots.size());
                }
                progress(10);
            }
        } catch (PosixException refused) {
            throw new IllegalStateException("the ring does not tell what it has: slots=" + slots.size(), refused);
        }
        closed = true;
        ring.close();
        arena.close();
    }

    @Override
    public String toString() {
        return "FixedTable[slots=" + traits.mostMarks() + " owner=" + owner.getName() + "]";
    }

    /// Writes registered bytes to a file.
    ///
    /// @param at where in the file
    /// @param ended told once the kernel has answered, and not after an exception; does not throw
    FixedTransfer write(Descriptor to, long at, Mark from, long address, int length, Runnable ended)
            throws PosixException {
        return begin("WRITE_FIXED", Ring.OP_WRITE_FIXED, to, marked(from, address, length), at, address, length, ended);
    }

    /// Writes bytes to a file that the table does not know.
    FixedTransfer writePlain(Descriptor to, long at, long address, int length, Runnable ended) throws PosixException {
        return begin("WRITE", Ring.OP_WRITE, to, null, at, address, length, ended);
    }

    /// Has a file's bytes written to its device: those that were written before this.
    FixedTransfer sync(Descriptor file) throws PosixException {
        return begin("FSYNC", Ring.OP_FSYNC, file, null, 0, 0, 0, NOTHING);
    }

    /// Asks the kernel to end what waits on a descriptor; each one is answered all the same.
    void cancelAll(Descriptor on) throws PosixException {
        cancelEach(transfer -> transfer.descriptor == on);
    }

    private FixedTransfer begin(String call, byte opcode, PosixSocket socket, Mark mark, long address, int length)
            throws PosixException {
        Slot slot = marked(mark, address, length);
        return begin(call, opcode, SocketDoor.stream(socket).descriptor(), slot, 0, address, length, NOTHING);
    }

    private Slot marked(Mark mark, long address, int length) {
        checkOwner();
        Slot slot = of(mark);
        long offset = address - slot.address;
        if (length < 1 || offset < 0 || offset > slot.length - length) {
            throw new IllegalArgumentException(
                    "not in the mark: offset=" + offset + " length=" + length + " marked=" + slot.length);
        }
        if (closed || slots.get(slot.key) != slot || slot.memoryIsFree != null) {
            throw new IllegalStateException("mark is retired: " + slot);
        }
        return slot;
    }

    private FixedTransfer begin(
            String call,
            byte opcode,
            Descriptor descriptor,
            @Nullable Slot slot,
            long at,
            long address,
            int length,
            Runnable ended)
            throws PosixException {
        checkOwner();
        if (closed) {
            throw new IllegalStateException("table is closed: call=" + call);
        }
        FixedTransfer transfer = new FixedTransfer(call, slot, descriptor, ended);
        int fd = descriptor.enter(call);
        long id = next;
        boolean given = false;
        try {
            transfers.put(id, transfer);
            MemorySegment request = request();
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
            ring.enter();
        } catch (PosixException notNow) {
            // the ring has the request, so its end is told: the next progress() hands it over, or says why not
            return transfer;
        }
        return transfer;
    }

    private MemorySegment request() throws PosixException {
        MemorySegment request = ring.next();
        while (request == null) {
            ring.enter();
            ring.reap(this::completed);
            request = ring.next();
        }
        // until it is filled in it is a request for nothing
        request.set(JAVA_LONG, Ring.SQE_USER_DATA, CANCEL);
        return request;
    }

    private void takeUp() {
        for (Retirement asked = retirements.peek(); asked != null; asked = retirements.peek()) {
            asked.slot.memoryIsFree = asked.memoryIsFree;
            retirements.remove();
            try {
                empty(asked.slot);
            } catch (PosixException refused) {
                // its memory stays out until the table is closed
                continue;
            }
        }
        // an idle slot's tag is there already
        ring.reap(this::completed);
    }

    private void empty(Slot slot) throws PosixException {
        check("BUFFERS_UPDATE", update(slot, 0, 0));
        if (slot.transfers > 0) {
            cancelEach(transfer -> transfer.slot == slot);
        }
    }

    private void cancelEach(Predicate<FixedTransfer> which) throws PosixException {
        for (Map.Entry<Long, FixedTransfer> each : transfers.entrySet()) {
            if (which.test(each.getValue())) {
                cancel(each.getKey());
            }
        }
        ring.enter();
    }

    private void cancel(long id) throws PosixException {
        MemorySegment request = ring.next();
        while (request == null) {
            // completions are read later: the caller walks over the transfers
            ring.enter();
            request = ring.next();
        }
        request.set(JAVA_BYTE, Ring.SQE_OPCODE, Ring.OP_ASYNC_CANCEL);
        request.set(JAVA_INT, Ring.SQE_FD, -1);
        request.set(JAVA_LONG, Ring.SQE_ADDRESS, id);
        request.set(JAVA_LONG, Ring.SQE_USER_DATA, CANCEL);
    }

    private long update(Slot slot, long address, long length) {
        memory.set(JAVA_LONG, 0, address);
        memory.set(JAVA_LONG, 8, length);
        tag.set(JAVA_LONG, 0, length == 0 ? 0 : TAG | slot.key);
        argument.fill((byte) 0);
        argument.set(JAVA_INT, 0, slot.index);
        argument.set(JAVA_LONG, 8, memory.address());
        argument.set(JAVA_LONG, 16, tag.address());
        argument.set(JAVA_INT, 24, 1);
        return ring.register(REGISTER_BUFFERS_UPDATE, argument, ARGUMENT_BYTES);
    }

    private void completed(long userData, int result, int flags) {
        if ((userData & CANCEL) != 0) {
            return;
        }
        done++;
        if ((userData & TAG) != 0) {
            emptied(userData & ~TAG);
            return;
        }
        FixedTransfer transfer = transfers.remove(userData);
        if (transfer != null) {
            if (transfer.slot != null) {
                transfer.slot.transfers--;
            }
            transfer.descriptor.leave();
            transfer.answered(result);
        }
    }

    /// The kernel has no page of it any more.
    private void emptied(long key) {
        Slot slot = slots.remove(key);
        if (slot == null) {
            return;
        }
        free.add(slot.index);
        Runnable told = slot.memoryIsFree;
        if (told != null) {
            told.run();
        }
    }

    private Slot of(Mark mark) {
        if (mark instanceof Slot slot && slot.table == this) {
            return slot;
        }
        throw new IllegalArgumentException("mark of another device: " + mark);
    }

    void checkOwner() {
        if (Thread.currentThread() != owner) {
            throw new WrongThreadException("table belongs to another thread: owner=" + owner.getName());
        }
    }

    private static void check(String opcode, long result) throws PosixException {
        if (result < 0) {
            throw CallFailure.of("io_uring_register", (int) -result, "opcode=" + opcode);
        }
    }
}
