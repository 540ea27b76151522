// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Capabilities;
import io.bulla.posix.fixtures.FixedBufferTables;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.internal.stream.SocketDoor;
import io.bulla.posix.internal.uring.Ring;
import io.bulla.posix.memfd.HugePages;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.RegistrationUse;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import io.bulla.testkit.heap.HeapCost;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The kernel as a device: stories 1 c and 4 of docs/registration.md, the old way beside ours.
@Needs(value = Piece.IO_URING, by = FixedBufferTables.class)
class FixedBufferTableTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer PEER = new Peer(1, "peer");
    private static final int SIZE = 4096;
    // requests that a ring takes before it is entered
    private static final int RING = 64;
    private static final Runnable HERE = () -> {};

    private final SlabSource memory =
            SlabSource.builder().supplier(new HugePages()).build();
    private FixedBufferTable table;
    private Registrations registrations;
    private PosixSocket here;
    private PosixSocket there;

    @BeforeEach
    void open() throws PosixException {
        table = FixedBufferTable.open(64);
        registrations = Registrations.of(table, new PinBudget(64 << 20));
        PosixSocket[] pair = PosixSocket.unixPair();
        here = pair[0];
        there = pair[1];
    }

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        if (registrations != null) {
            registrations.close();
            here.close();
            there.close();
        }
        memory.close(PATIENCE);
    }

    @Test
    void registeredBytesArrive() throws Exception {
        for (int i = 0; i < 3; i++) {
            try (SealedBuffer buffer = buffer((byte) ('a' + i));
                    RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0))) {
                assertEquals(SIZE, send(use, buffer).byteCount());
                assertArrayEquals(buffer.toByteArray(), received(SIZE));
            }
        }
        assertEquals(1, registrations.figures().registered());
        assertEquals(1, table.filled());
    }

    @Test
    void retirementThatIsAskedForAgainIsToldOnceToTheFirst() throws Exception {
        Region region = memory.allocate(SIZE);
        AtomicInteger first = new AtomicInteger();
        AtomicInteger again = new AtomicInteger();
        MemoryRegistration mark =
                table.register(Objects.requireNonNull(Slab.of(region)), 0, SIZE, Access.LOCAL, null, 0);
        Thread other = Thread.ofPlatform().start(() -> {
            table.retire(mark, RetireReason.IDLE, first::incrementAndGet);
            table.retire(mark, RetireReason.IDLE, again::incrementAndGet);
        });
        other.join();
        assertEquals(0, first.get());
        table.retire(mark, RetireReason.IDLE, again::incrementAndGet);
        while (table.filled() > 0) {
            table.progress(10);
        }
        assertEquals(1, first.get());
        assertEquals(0, again.get());
        region.release();
    }

    /// What fails on a full heap is done by the next call, and nothing that was asked for behind it is lost.
    @Test
    void retirementThatFailsIsTriedAgain() throws Exception {
        Region region = memory.allocate(SIZE);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        AtomicInteger told = new AtomicInteger();
        MemoryRegistration one = table.register(slab, 0, SIZE, Access.LOCAL, null, 0);
        MemoryRegistration two = table.register(slab, 0, SIZE, Access.LOCAL, null, 0);
        Thread other = Thread.ofPlatform().start(() -> {
            table.retire(one, RetireReason.IDLE, told::incrementAndGet);
            table.retire(two, RetireReason.IDLE, told::incrementAndGet);
        });
        other.join();
        AtomicBoolean full = new AtomicBoolean(true);
        AtomicInteger emptied = new AtomicInteger();
        SyscallInterceptor.watch((call, _) -> {
            if (call.equals("io_uring_register")) {
                if (full.get()) {
                    throw new OutOfMemoryError("full, for a test");
                }
                emptied.incrementAndGet();
            }
            return 0;
        });
        try {
            assertThrows(OutOfMemoryError.class, () -> table.progress(0));
            assertThrows(OutOfMemoryError.class, () -> table.register(slab, 0, SIZE, Access.LOCAL, null, 0));
            assertEquals(2, table.filled());
            full.set(false);
            table.progress(0);
            assertEquals(2, emptied.get());
        } finally {
            SyscallInterceptor.watch(null);
        }
        while (table.filled() > 0) {
            table.progress(10);
        }
        assertEquals(2, told.get());
        region.release();
    }

    /// A full heap keeps no memory with the kernel.
    @Test
    void askingForARetirementTakesNoHeap() {
        FixedBufferSlot.Retired retired = new FixedBufferSlot.Retired();
        FixedBufferSlot[] slots = new FixedBufferSlot[HeapCost.ROUNDS];
        HeapCost.atMost(0, () -> Arrays.setAll(slots, i -> new FixedBufferSlot(this, i, i, 0, SIZE)), i -> {
            assertTrue(slots[i].ask(HERE));
            retired.put(slots[i]);
        });
    }

    /// The completion is out of the ring by then: a full heap would lose it, and its memory would stay out for ever.
    @Test
    void takingUpWhatTheKernelHasLetGoTakesNoHeap() throws Exception {
        Region region = memory.allocate(SIZE);
        long address = region.segment().address();
        Ring ring = new Ring(RING);
        FixedBufferSlots slots = new FixedBufferSlots(ring, HeapCost.ROUNDS);
        slots.make();
        long[] tags = new long[HeapCost.ROUNDS];
        HeapCost.atMost(
                0,
                () -> Arrays.setAll(tags, _ -> 1L << 62 | filled(slots, address).index),
                i -> slots.emptied(tags[i]));
        assertEquals(0, slots.size());
        ring.close();
        slots.close();
        region.release();
    }

    private static FixedBufferSlot filled(FixedBufferSlots slots, long address) {
        try {
            return slots.fill(address, SIZE);
        } catch (RegistrationRefusedException refused) {
            throw new IllegalStateException(refused);
        }
    }

    @Test
    void slotIsEmptiedWithItsTag() throws Exception {
        try (SealedBuffer buffer = buffer((byte) 'a')) {
            try (RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0))) {
                send(use, buffer);
            }
            MemoryRegistration mark;
            try (RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0))) {
                mark = use.registration();
            }
            registrations.quiesce(PATIENCE);
            assertEquals(0, table.filled());
            long address = buffer.iovec().lent().region(0).address();
            assertThrows(IllegalStateException.class, () -> table.send(here, mark, address, SIZE));
            try (RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0))) {
                assertNotEquals(mark.key(), use.registration().key());
                assertThrows(
                        IllegalArgumentException.class,
                        () -> table.send(here, use.registration(), use.address() - 1, 2));
                assertThrows(
                        IllegalArgumentException.class,
                        () -> table.send(here, use.registration(), use.address() + SlabSource.SLAB, 1));
            }
        }
    }

    @Test
    void retirementOfAnotherThreadIsTheOwners() throws Exception {
        try (SealedBuffer buffer = buffer((byte) 'a')) {
            Objects.requireNonNull(registrations.use(buffer, 0)).close();
            CompletableFuture.runAsync(() -> {
                        registrations.trim();
                        registrations.trim();
                    })
                    .get(30, TimeUnit.SECONDS);
            assertEquals(1, registrations.figures().evicted());
            assertEquals(1, registrations.figures().marks());
            assertEquals(1, table.progress(0));
            assertEquals(0, registrations.figures().marks());
            var elsewhere = CompletableFuture.supplyAsync(() -> registrations.use(buffer, 0));
            assertNull(elsewhere.get(30, TimeUnit.SECONDS));
            assertTrue(Objects.requireNonNull(registrations.lastRefusal()).contains("belongs to another thread"));
        }
    }

    @Test
    void kernelThatWantsCompletionsReadFirstIsAskedAgain() throws Exception {
        // one for the send itself, one for the owner's next look
        AtomicInteger refusals = new AtomicInteger(2);
        try (SealedBuffer buffer = buffer((byte) 'b');
                RegistrationUse use = Objects.requireNonNull(registrations.use(buffer, 0))) {
            SyscallInterceptor.watch((call, _) ->
                    call.equals("io_uring_enter") && refusals.getAndDecrement() > 0 ? Errno.EBUSY.number() : 0);
            try {
                assertEquals(SIZE, send(use, buffer).byteCount());
            } finally {
                SyscallInterceptor.watch(null);
            }
            assertTrue(refusals.get() < 0, () -> "refusals left: " + refusals);
            assertArrayEquals(buffer.toByteArray(), received(SIZE));
        }
    }

    /// Room in a full ring comes from the completions that are taken up, and what hears of one may begin another.
    @Test
    void writeThatBeginsWhileAnotherOneWaitsForRoomHasItsOwnEnd() throws Exception {
        Descriptor to = SocketDoor.stream(here).descriptor();
        List<FixedBufferOperation> begun = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(SIZE);
            Runnable beginsAnother = () -> begun.add(write(to, bytes, 7, HERE));
            begun.add(write(to, bytes, 1, beginsAnother));
            // it is answered, and the answer is not taken up; the ring is full when it takes none for so long
            AtomicInteger refusals = new AtomicInteger(RING + 1);
            SyscallInterceptor.watch((call, _) ->
                    call.equals("io_uring_enter") && refusals.getAndDecrement() > 0 ? Errno.EBUSY.number() : 0);
            try {
                for (int i = 0; i < RING; i++) {
                    begun.add(write(to, bytes, 2, HERE));
                }
                begun.add(write(to, bytes, 3, HERE));
                assertEquals(RING + 3, begun.size());
                for (int i = 0; i < 1000 && !begun.stream().allMatch(FixedBufferOperation::isDone); i++) {
                    table.progress(10);
                }
            } finally {
                SyscallInterceptor.watch(null);
            }
            int written = 0;
            for (FixedBufferOperation each : begun) {
                written += each.byteCount();
            }
            assertEquals(1 + 2 * RING + 7 + 3, written);
            assertEquals(3, begun.getLast().byteCount());
            received(written);
        }
    }

    /// Its place may be another owner's by the time the request is filled in.
    @Test
    void markThatIsRetiredWhileItsRequestWaitsForRoomIsNotUsed() throws Exception {
        Region region = memory.allocate(SIZE);
        MemoryRegistration mark =
                table.register(Objects.requireNonNull(Slab.of(region)), 0, SIZE, Access.LOCAL, null, 0);
        Descriptor to = SocketDoor.stream(here).descriptor();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(SIZE);
            write(to, bytes, 1, () -> table.retire(mark, RetireReason.IDLE, HERE));
            AtomicInteger refusals = new AtomicInteger(RING + 1);
            SyscallInterceptor.watch((call, _) ->
                    call.equals("io_uring_enter") && refusals.getAndDecrement() > 0 ? Errno.EBUSY.number() : 0);
            try {
                for (int i = 0; i < RING; i++) {
                    write(to, bytes, 1, HERE);
                }
                long address = region.segment().address();
                assertThrows(IllegalStateException.class, () -> table.send(here, mark, address, SIZE));
            } finally {
                SyscallInterceptor.watch(null);
            }
            received(1 + RING);
            while (table.filled() > 0) {
                table.progress(10);
            }
        }
        region.release();
    }

    private FixedBufferOperation write(Descriptor to, MemorySegment from, int length, Runnable ended) {
        try {
            return table.writePlain(to, 0, from.address(), length, ended);
        } catch (PosixException refused) {
            throw new IllegalStateException(refused);
        }
    }

    /// The old way: the registration is closed and says so, the memory has another owner, and the kernel writes.
    @Test
    void waitingReadWritesIntoTheNextOwnersMemoryTheOldWay() throws Exception {
        Region region = memory.allocate(SIZE);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        long address = region.segment().address();
        try (OldTable old = new OldTable()) {
            old.register(address, SIZE);
            old.read(here, address, SIZE);
            assertEquals(1, old.unregister());
            region.release();
            try (SealedBuffer next = buffer((byte) 'n')) {
                assertEquals(address, next.iovec().lent().region(0).address());
                peerSends((byte) 'd');
                assertEquals(SIZE, old.result());
                assertEquals((byte) 'd', next.iovec().getByte(100), "bytes of another in a sealed buffer");
            }
        }
        assertTrue(slab.id() > 0);
    }

    @Test
    void waitingReadIsOverBeforeTheMemoryHasAnotherOwner() throws Exception {
        RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, SIZE);
        Grant grant = landing.grant(PEER);
        long address = grant.address();
        FixedBufferOperation waiting = table.receive(here, grant.registration(), address, SIZE);
        // not said to be free before the kernel has said so
        Revocation first = grant.revoke(Duration.ZERO);
        while (!grant.isFenced()) {
            table.progress(10);
        }
        assertTrue(first instanceof Revocation.Clean || first instanceof Revocation.Quarantined);
        assertInstanceOf(Revocation.Clean.class, grant.revoke(PATIENCE));
        landing.close();
        try (SealedBuffer next = buffer((byte) 'n')) {
            assertEquals(address, next.iovec().lent().region(0).address());
            byte[] before = next.toByteArray();
            peerSends((byte) 'd');
            table.progress(0);
            assertArrayEquals(before, next.toByteArray());
            assertEquals(
                    Errno.ECANCELED,
                    assertThrows(PosixException.class, waiting::byteCount).errno());
        }
        // what the peer sent waits in the socket
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(SIZE, here.receive(arena.allocate(SIZE)));
        }
    }

    @Test
    void landingIsSealedWithWhatThePeerSent() throws Exception {
        try (RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, SIZE)) {
            Grant grant = landing.grant(PEER);
            FixedBufferOperation waiting = table.receive(here, grant.registration(), grant.address(), SIZE);
            peerSends((byte) 'p');
            progressUntil(waiting);
            assertEquals(SIZE, waiting.byteCount());
            assertInstanceOf(Revocation.Clean.class, grant.complete(PATIENCE));
            byte[] expected = new byte[SIZE];
            Arrays.fill(expected, (byte) 'p');
            try (SealedBuffer message = landing.seal()) {
                assertArrayEquals(expected, message.toByteArray());
            }
        }
    }

    /// The old way: registered by address, unmapped, mapped again.
    @Test
    void staleRegistrationSendsOldBytesTheOldWay() throws Exception {
        try (OldTable old = new OldTable()) {
            assertEquals('o', old.sendAfterRemap(here, there, (byte) 'o', (byte) 'n'));
        }
    }

    @Test
    void randomLivesAlwaysSendTheirOwnBytes() throws Exception {
        Random random = new Random(4);
        int[] sizes = {512, SIZE, 64 << 10};
        long stale = 0;
        for (int i = 0; i < 5_000; i++) {
            int size = sizes[random.nextInt(sizes.length)];
            byte value = (byte) i;
            try (SealedBuffer buffer = buffer(value, size);
                    RegistrationUse use = registrations.use(buffer, 0)) {
                assertTrue(use != null, registrations::lastRefusal);
                send(use, buffer);
                for (byte each : received(size)) {
                    stale += each == value ? 0 : 1;
                }
            }
            if (random.nextInt(50) == 0) {
                memory.trim();
            }
        }
        assertEquals(0, stale);
        assertTrue(registrations.figures().registered() > 10, () -> registrations.toString());
    }

    @Test
    void limitOfTheKernelIsARefusalWithItsNumber() throws Exception {
        assertTrue(CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return Capabilities.dropIpcLock() ? refusalBelow() : "SKIPPED";
                            } catch (Throwable failure) {
                                throw new AssertionError(failure);
                            }
                        },
                        task -> new Thread(task).start())
                .thenApply(line -> line.equals("SKIPPED")
                        || line.contains("errno=12") && line.contains("rlimit=") && line.contains("pinned="))
                .get(60, TimeUnit.SECONDS));
    }

    private String refusalBelow() throws Exception {
        long locked = Capabilities.lockedBytes();
        if (locked > 1L << 30) {
            return "SKIPPED";
        }
        try (FixedBufferTable limited = FixedBufferTable.open(4);
                SealedBuffer large = buffer((byte) 'l', (int) locked + (1 << 20))) {
            Registrations many = Registrations.of(limited, new PinBudget(Long.MAX_VALUE));
            assertNull(many.use(large, 0));
            String line = Objects.requireNonNull(many.lastRefusal());
            many.close();
            return line;
        }
    }

    private SealedBuffer buffer(byte value) {
        return buffer(value, SIZE);
    }

    private SealedBuffer buffer(byte value, int size) {
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, value);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, size)) {
            return builder.put(bytes).seal();
        }
    }

    private FixedBufferOperation send(RegistrationUse use, SealedBuffer buffer) throws PosixException {
        MemorySegment bytes = buffer.iovec().lent().region(0);
        FixedBufferOperation sent = table.send(here, use.registration(), bytes.address(), (int) bytes.byteSize());
        progressUntil(sent);
        assertEquals(bytes.byteSize(), sent.byteCount());
        return sent;
    }

    private void progressUntil(FixedBufferOperation transfer) throws PosixException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!transfer.isDone()) {
            assertTrue(System.nanoTime() - end < 0, transfer::toString);
            table.progress(100);
        }
    }

    private byte[] received(int size) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(size);
            for (long at = 0; at < size; ) {
                at += there.receive(into.asSlice(at));
            }
            return into.toArray(JAVA_BYTE);
        }
    }

    private void peerSends(byte value) throws PosixException {
        try (SealedBuffer bytes = buffer(value)) {
            there.moveAndSend(bytes);
        }
    }
}
