// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RetireReason;
import io.bulla.posix.PosixException;
import io.bulla.posix.file.FixedBufferOperation;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.posix.memfd.HugePages;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.RegistrationUse;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;

/// Sends and reads of an io_uring with registered memory. The old way uses the same table without the hold: the
/// mark is kept, and the memory goes.
final class Ring {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer PEER = new Peer(1, "peer");
    private static final int[] SIZES = {512, 4096, 64 << 10};
    private static final int READ = 4096;
    private static final int ARENA = 40 << 20;
    private static final int SENT_OF_ARENA = 4096;

    private final Random random;
    private String figures = "";
    private long clean;
    private long arenasGone;

    Ring(long seed) {
        random = new Random(seed);
    }

    String figures() {
        return figures;
    }

    /// Revocations after which the memory was the program's.
    long clean() {
        return clean;
    }

    /// Arenas that were closed before the next one was taken.
    long arenasGone() {
        return arenasGone;
    }

    /// Sends of memory that was given back, by `MADV_DONTNEED`, and taken again under a mark that stayed.
    ///
    /// @return how many sent what stood there before
    long oldSends(int rounds) throws Exception {
        long stale = 0;
        try (Line line = new Line()) {
            for (int i = 0; i < rounds; i++) {
                int size = SIZES[random.nextInt(SIZES.length)];
                Region first = line.memory.allocate(size);
                Slab slab = Objects.requireNonNull(Slab.of(first));
                long address = first.segment().address();
                first.segment().fill((byte) 'o');
                MemoryRegistration mark = line.table.register(slab, 0, slab.byteSize(), Access.LOCAL, null, 1);
                first.release();
                line.memory.trim();
                Region again = line.memory.allocate(size);
                again.segment().fill((byte) 'n');
                if (again.segment().address() == address) {
                    line.send(mark, address, size);
                    stale += line.received(size)[0] == 'o' ? 1 : 0;
                }
                again.release();
                line.retire(mark);
            }
        }
        return stale;
    }

    /// The same with an arena of the JDK's, which is unmapped when it is closed.
    ///
    /// @return how many sent what stood there before
    long oldArenas(int rounds) throws Exception {
        long stale = 0;
        try (Line line = new Line(SlabSupplier.arenas())) {
            for (int i = 0; i < rounds; i++) {
                Region first = line.memory.allocate(ARENA);
                Slab slab = Objects.requireNonNull(Slab.of(first));
                long address = first.segment().address();
                line.mark(first, 'o');
                MemoryRegistration mark = line.table.register(slab, 0, slab.byteSize(), Access.LOCAL, null, 1);
                first.release();
                line.memory.trim();
                Region again = line.memory.allocate(ARENA);
                line.mark(again, 'n');
                // other threads of the JVM map memory, too
                if (again.segment().address() == address) {
                    line.send(mark, address, SENT_OF_ARENA);
                    stale += line.received(SENT_OF_ARENA)[0] == 'o' ? 1 : 0;
                }
                again.release();
                line.retire(mark);
            }
        }
        return stale;
    }

    /// Arenas that are taken, sent from and given back, through registrations.
    ///
    /// @return how many bytes arrived that were not the arena's
    long arenas(int rounds) throws Exception {
        long stale = 0;
        try (Line line = new Line(SlabSupplier.arenas());
                Registrations registrations = Registrations.of(line.table, new PinBudget(2 * (long) ARENA))) {
            for (int i = 0; i < rounds; i++) {
                char value = (char) ('a' + i % 26);
                Region region = line.memory.allocate(ARENA);
                line.mark(region, value);
                try (SealedBuffer buffer = line.memory.sealFilled(region, ARENA);
                        RegistrationUse use =
                                Objects.requireNonNull(registrations.use(buffer, 0), registrations::lastRefusal)) {
                    line.send(
                            use.registration(), buffer.iovec().lent().region(0).address(), SENT_OF_ARENA);
                    for (byte each : line.received(SENT_OF_ARENA)) {
                        stale += each == value ? 0 : 1;
                    }
                }
                // asks the registration, then the kernel; then the arena goes
                line.memory.trim();
                line.table.progress(0);
                line.memory.trim();
                arenasGone += line.memory.bookedBytes() == 0 ? 1 : 0;
            }
        }
        return stale;
    }

    /// Buffers of random sizes that are made, sent and given back, beside trims.
    ///
    /// @return how many bytes arrived that were not the buffer's
    long sends(long rounds) throws Exception {
        long stale = 0;
        try (Line line = new Line();
                Registrations registrations = Registrations.of(line.table, new PinBudget(64 << 20))) {
            for (long i = 0; i < rounds; i++) {
                byte value = (byte) i;
                int size = SIZES[random.nextInt(100) < 98 ? random.nextInt(2) : 2];
                try (SealedBuffer buffer = line.buffer(value, size);
                        RegistrationUse use =
                                Objects.requireNonNull(registrations.use(buffer, 0), registrations::lastRefusal)) {
                    line.send(
                            use.registration(), buffer.iovec().lent().region(0).address(), size);
                    for (byte each : line.received(size)) {
                        stale += each == value ? 0 : 1;
                    }
                }
                if (random.nextInt(1000) == 0) {
                    line.memory.trim();
                }
            }
            figures = registrations.figures().toString();
        }
        return stale;
    }

    /// Reads that wait for a peer while the memory gets another owner.
    ///
    /// @return bytes of the peer in the other owner's memory
    long oldReads(int rounds) throws Exception {
        long dead = 0;
        for (int i = 0; i < rounds; i++) {
            try (Line line = new Line()) {
                Region region = line.memory.allocate(READ);
                Slab slab = Objects.requireNonNull(Slab.of(region));
                long address = region.segment().address();
                MemoryRegistration mark = line.table.register(slab, 0, slab.byteSize(), Access.REMOTE_WRITE, PEER, 1);
                FixedBufferOperation waiting = line.table.receive(line.here, mark, address, READ);
                region.release();
                try (SealedBuffer next = line.buffer((byte) 'n', READ)) {
                    line.peerSends();
                    line.until(waiting);
                    dead += othersIn(next, address);
                }
                line.retire(mark);
            }
        }
        return dead;
    }

    /// The same, with a grant that is revoked first.
    long reads(int rounds) throws Exception {
        long dead = 0;
        for (int i = 0; i < rounds; i++) {
            try (Line line = new Line();
                    Registrations registrations = Registrations.of(line.table, new PinBudget(64 << 20))) {
                RemoteWriteTarget landing = registrations.remoteWriteTarget(line.memory, READ);
                Grant grant = landing.grant(PEER);
                long address = grant.address();
                line.table.receive(line.here, grant.registration(), address, READ);
                registrations.revoke(PEER, Duration.ZERO);
                long end = System.nanoTime() + PATIENCE.toNanos();
                while (!grant.isFenced() && System.nanoTime() - end < 0) {
                    line.table.progress(10);
                }
                clean += grant.revoke(Duration.ZERO) instanceof Revocation.Clean ? 1 : 0;
                landing.close();
                try (SealedBuffer next = line.buffer((byte) 'n', READ)) {
                    line.peerSends();
                    line.table.progress(0);
                    dead += othersIn(next, address);
                }
            }
        }
        return dead;
    }

    private static long othersIn(SealedBuffer next, long address) {
        if (next.iovec().lent().region(0).address() != address) {
            throw new IllegalStateException("memory was not used again: address=" + address);
        }
        long others = 0;
        for (byte each : next.toByteArray()) {
            others += each == 'n' ? 0 : 1;
        }
        return others;
    }

    /// A table, a pool and two ends of a socket.
    private static final class Line implements AutoCloseable {

        final SlabSource memory;
        final FixedBufferTable table;
        final PosixSocket here;
        private final PosixSocket there;
        private final Arena arena = Arena.ofConfined();
        private final MemorySegment into = arena.allocate(SIZES[2]);

        Line() throws PosixException {
            this(new HugePages());
        }

        Line(SlabSupplier supplier) throws PosixException {
            memory = SlabSource.builder()
                    .supplier(supplier)
                    .idle(Duration.ofHours(1))
                    .build();
            table = FixedBufferTable.open(64);
            PosixSocket[] pair = PosixSocket.unixPair();
            here = pair[0];
            there = pair[1];
        }

        SealedBuffer buffer(byte value, int size) {
            byte[] bytes = new byte[size];
            Arrays.fill(bytes, value);
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, size)) {
                return builder.put(bytes).seal();
            }
        }

        /// Its first bytes, which are what is sent.
        void mark(Region region, char value) {
            region.segment().asSlice(0, SENT_OF_ARENA).fill((byte) value);
        }

        void send(MemoryRegistration mark, long address, int size) throws PosixException {
            FixedBufferOperation sent = table.send(here, mark, address, size);
            until(sent);
            if (sent.byteCount() != size) {
                throw new IllegalStateException("sent in part: bytes=" + sent.byteCount() + " of=" + size);
            }
        }

        byte[] received(int size) throws PosixException {
            for (long at = 0; at < size; ) {
                at += there.receive(into.asSlice(at, size - at));
            }
            return into.asSlice(0, size).toArray(JAVA_BYTE);
        }

        void peerSends() throws PosixException {
            try (SealedBuffer late = buffer((byte) 'd', READ)) {
                there.moveAndSend(late);
            }
        }

        void until(FixedBufferOperation transfer) throws PosixException {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!transfer.isDone()) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("no answer of the kernel: " + transfer);
                }
                table.progress(100);
            }
        }

        void retire(MemoryRegistration mark) throws PosixException {
            table.retire(mark, RetireReason.IDLE, () -> {});
            table.progress(0);
        }

        @Override
        public void close() {
            table.close();
            here.close();
            there.close();
            arena.close();
            try {
                memory.close(PATIENCE);
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        }
    }
}
