// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.internal.uring.Ring;
import io.bulla.posix.socket.PosixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A table of one slot as it is used elsewhere: by address, with nothing that holds the memory, and taken for
/// closed when the call returns.
final class OldTable implements AutoCloseable {

    private static final long REGISTER_BUFFERS2 = 15;
    private static final long REGISTER_BUFFERS_UPDATE = 16;
    private static final long OPERATION = 7;
    private static final int PAGE = 1 << 21;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment argument = arena.allocate(32, 8);
    private final MemorySegment memory = arena.allocate(16, 8);
    private final Ring ring;
    private int result = Integer.MIN_VALUE;

    OldTable() throws PosixException {
        ring = new Ring(8);
        argument.set(JAVA_INT, 0, 1);
        argument.set(JAVA_INT, 4, 1);
        if (ring.register(REGISTER_BUFFERS2, argument, 32) < 0) {
            throw new PosixException("io_uring_register", Errno.ENOSYS.number(), "opcode=BUFFERS2");
        }
    }

    long register(long address, long length) {
        memory.set(JAVA_LONG, 0, address);
        memory.set(JAVA_LONG, 8, length);
        argument.fill((byte) 0);
        argument.set(JAVA_LONG, 8, memory.address());
        argument.set(JAVA_INT, 24, 1);
        return ring.register(REGISTER_BUFFERS_UPDATE, argument, 32);
    }

    long unregister() {
        return register(0, 0);
    }

    void read(PosixSocket socket, long address, int length) throws PosixException {
        submit(Ring.OP_READ_FIXED, socket, address, length);
    }

    void write(PosixSocket socket, long address, int length) throws PosixException {
        submit(Ring.OP_WRITE_FIXED, socket, address, length);
    }

    /// Of the read or write.
    int result() throws PosixException {
        long end = System.nanoTime() + 30_000_000_000L;
        while (result == Integer.MIN_VALUE && System.nanoTime() - end < 0) {
            ring.enter();
            ring.reap((userData, answer, flags) -> result = userData == OPERATION ? answer : result);
            Call.current().poll(ring.fd(), Libc.POLLIN, 10);
        }
        int now = result;
        result = Integer.MIN_VALUE;
        return now;
    }

    /// Registers memory, unmaps it, maps other memory at the same address, and sends that.
    ///
    /// @return the byte that the peer got
    @SuppressWarnings("restricted")
    byte sendAfterRemap(PosixSocket from, PosixSocket to, byte old, byte fresh) throws PosixException {
        long address;
        long again;
        int tries = 0;
        do {
            address = Memfd.map(PAGE);
            MemorySegment.ofAddress(address).reinterpret(PAGE).fill(old);
            register(address, PAGE);
            Mapping.unmap(address, PAGE);
            again = Memfd.map(PAGE);
            // another thread of the JVM may map there
        } while (again != address && ++tries < 100);
        if (again != address) {
            throw new AssertionError("mapped elsewhere: first=" + address + " then=" + again);
        }
        MemorySegment.ofAddress(again).reinterpret(PAGE).fill(fresh);
        write(from, again, 1);
        result();
        Mapping.unmap(again, PAGE);
        try (Arena own = Arena.ofConfined()) {
            MemorySegment into = own.allocate(1);
            to.receive(into);
            return into.get(JAVA_BYTE, 0);
        }
    }

    private void submit(byte opcode, PosixSocket socket, long address, int length) throws PosixException {
        MemorySegment request = ring.next(0);
        request.set(JAVA_BYTE, Ring.SQE_OPCODE, opcode);
        request.set(
                JAVA_INT, Ring.SQE_FD, SocketDoor.stream(socket).descriptor().enter("old"));
        request.set(JAVA_LONG, Ring.SQE_ADDRESS, address);
        request.set(JAVA_INT, Ring.SQE_LENGTH, length);
        request.set(JAVA_SHORT, Ring.SQE_BUFFER, (short) 0);
        request.set(JAVA_LONG, Ring.SQE_USER_DATA, OPERATION);
        ring.enter();
        SocketDoor.stream(socket).descriptor().leave();
    }

    @Override
    public void close() {
        ring.close();
        arena.close();
    }
}
