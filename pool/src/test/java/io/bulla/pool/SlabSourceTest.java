// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.IoVecCursor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a source takes, uses again and gives back: not far more than is used, as in netty#15691 and netty#15850.
class SlabSourceTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long SLAB = SlabSource.SLAB;
    private static final int EIGHTH = (int) (SLAB / 8);

    private final MemoryBudget budget = new MemoryBudget(8 * SLAB);
    private final SlabSource memory = SlabSource.builder().budget(budget).build();

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        memory.close(PATIENCE);
        assertEquals(0, budget.used());
    }

    @Test
    void memoryIsUsedAgainByTheSameThread() {
        Region one = memory.allocate(1000);
        long address = one.segment().address();
        one.release();
        Region other = memory.allocate(900);
        assertEquals(address, other.segment().address());
        other.release();
        assertEquals(SLAB, budget.used());
    }

    @Test
    void memoryIsUsedAgainByAnotherThread() throws Exception {
        List<Region> here = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 256; i++) {
                here.add(memory.allocate(4096));
            }
            on(() -> {
                here.forEach(Region::release);
                return null;
            });
            here.clear();
        }
        assertEquals(SLAB, budget.used());
    }

    @Test
    void sizesAreThoseOfTheClasses() {
        for (long bytes : new long[] {1, 256, 257, 1000, 1024, 1025, 262_144, 524_288, 524_289, 1_048_576}) {
            Region region = memory.allocate(bytes);
            assertTrue(region.byteSize() >= bytes && region.byteSize() <= Math.max(256, bytes * 5 / 4 + 1), "" + bytes);
            assertEquals(region.byteSize(), region.segment().byteSize());
            region.release();
        }
    }

    @Test
    void largeRegionsAreWholeSlabsAndAreUsedAgain() {
        Region large = memory.allocate(SizeClasses.LARGEST + 1);
        assertEquals(SLAB, large.byteSize());
        assertEquals(0, large.segment().address() % SLAB);
        long address = large.segment().address();
        large.release();
        Region again = memory.allocate(SLAB);
        assertEquals(address, again.segment().address());
        again.release();
        Region twice = memory.allocate(SLAB + 1);
        assertEquals(2 * SLAB, twice.byteSize());
        twice.release();
        assertEquals(3 * SLAB, budget.used());
    }

    @Test
    void lateReadersOfReusedMemoryGetAnException() {
        SealedBuffer old = sealed(0x1111_1111, 64);
        IoVec kept = old.iovec();
        IoVec part = kept.slice(8, 16);
        IoVecCursor cursor = IoVecCursor.of(kept);
        BufferReader reader = BufferReader.of(old);
        assertEquals(0x1111_1111, reader.getInt());
        old.close();
        try (SealedBuffer fresh = sealed(0x2222_2222, 64)) {
            assertEquals(0x2222_2222, fresh.iovec().getInt(0));
            assertStale(() -> kept.getInt(0));
            assertStale(() -> part.getLong(0));
            assertStale(() -> kept.getByte(0));
            assertStale(() -> kept.getShort(0));
            assertStale(() -> kept.region(0));
            assertStale(() -> kept.asByteBuffers());
            assertStale(() -> kept.lent());
            assertStale(() -> kept.hexDump());
            assertStale(() -> kept.hashCode());
            assertStale(() -> kept.mismatch(fresh.iovec()));
            assertStale(() -> fresh.iovec().mismatch(kept));
            assertStale(() -> kept.indexOf(0, (byte) 0x22));
            assertStale(() -> cursor.window(16, 1 << 20));
            assertStale(() -> {
                kept.copyTo(0, MemorySegment.ofArray(new byte[8]), 8);
                return null;
            });
            assertThrows(ReleasedBufferException.class, reader::getInt);
            assertEquals(fresh.iovec().getInt(0), BufferReader.of(fresh).getInt());
        }
    }

    /// The view of a whole slot is made once: the stamp tells its uses apart.
    @Test
    void messagesThatFillTheirSlotHaveOneView() {
        SealedBuffer old = sealed(0x1111_1111, 64);
        IoVec kept = old.iovec();
        MemorySegment view = kept.lent().region(0);
        assertEquals(256, view.byteSize());
        assertTrue(view.isReadOnly());
        old.close();
        try (SealedBuffer shorter = sealed(0x2222_2222, 63)) {
            assertEquals(252, shorter.iovec().lent().region(0).byteSize());
        }
        try (SealedBuffer fresh = sealed(0x3333_3333, 64)) {
            assertSame(view, fresh.iovec().lent().region(0));
            assertEquals(0x3333_3333, fresh.iovec().getInt(0));
            assertStale(() -> kept.getInt(0));
        }
    }

    @Test
    void regionOfWhichAViewWasGivenOutIsNotUsedAgain() {
        SealedBuffer old = sealed(0x1111_1111, 64);
        MemorySegment raw = old.iovec().region(0);
        long address = raw.address();
        old.close();
        List<Region> taken = new ArrayList<>();
        for (int i = 0; i < 2 * SLAB / 256; i++) {
            Region region = memory.allocate(64);
            region.segment().fill((byte) 0x22);
            assertNotEquals(address, region.segment().address());
            taken.add(region);
        }
        assertEquals(0x1111_1111, raw.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
        assertEquals(256, memory.figures().quarantinedBytes());
        taken.forEach(Region::release);
        memory.trim();
        assertThrows(IllegalStateException.class, () -> raw.get(ValueLayout.JAVA_BYTE, 0));
        assertEquals(0, memory.figures().quarantinedBytes());
        assertEquals(0, budget.used());
    }

    @Test
    void regionThatIsBeingWrittenIsUsedAgainAfterwards() throws IOException {
        SealedBuffer old = sealed(7, 64);
        IoVec view = old.iovec();
        long address = view.lent().region(0).address();
        List<Region> meanwhile = new ArrayList<>();
        view.writeTo(new Closing(() -> {
            old.close();
            Region other = memory.allocate(256);
            assertNotEquals(address, other.segment().address());
            meanwhile.add(other);
        }));
        meanwhile.add(memory.allocate(256));
        assertEquals(address, meanwhile.getLast().segment().address());
        meanwhile.forEach(Region::release);
    }

    /// Takes all bytes, after something else.
    private record Closing(Runnable first) implements GatheringByteChannel {

        @Override
        public long write(ByteBuffer[] views, int offset, int length) {
            first.run();
            long written = 0;
            for (int i = offset; i < offset + length; i++) {
                written += views[i].remaining();
                views[i].position(views[i].limit());
            }
            return written;
        }

        @Override
        public long write(ByteBuffer[] views) {
            return write(views, 0, views.length);
        }

        @Override
        public int write(ByteBuffer view) {
            return (int) write(new ByteBuffer[] {view});
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    @Test
    void slabOfWhichAViewWasGivenOutIsNotAnotherOnes() {
        SealedBuffer old = BufferBuilder.ofCapacity(memory, SLAB).putInt(7).seal();
        MemorySegment raw = old.iovec().region(0);
        old.close();
        memory.allocate(SLAB).release();
        assertThrows(IllegalStateException.class, () -> raw.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void slabThatIsMostlyInQuarantineIsUsedNoMore() {
        List<Region> rest = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            rest.add(memory.allocate(EIGHTH));
        }
        for (int i = 0; i < 5; i++) {
            try (SealedBuffer seen =
                    BufferBuilder.ofCapacity(memory, EIGHTH).putInt(i).seal()) {
                seen.iovec().region(0);
            }
        }
        assertEquals(5L * EIGHTH, memory.figures().quarantinedBytes());
        rest.forEach(Region::release);
        // takes the place of the slab that is carved to its end
        memory.allocate(1000).release();
        assertEquals(0, memory.figures().quarantinedBytes());
        assertEquals(1, memory.figures().slabs());
    }

    /// The thread that takes over an empty slab looks at what is in quarantine.
    @Test
    void quarantineIsCountedBeforeTheSlabIsLeft() {
        Slab slab = new Slab(null, SlabSupplier.arenas().take(SLAB));
        assertThrows(NullPointerException.class, () -> slab.quarantine(256), "it has no source to tell");
        assertEquals(256, slab.quarantined());
        slab.memory.end();
    }

    @Test
    void regionThatWasLentIsUsedAgain() {
        SealedBuffer old = sealed(7, 64);
        long address = old.iovec().lent().region(0).address();
        old.close();
        Region again = memory.allocate(256);
        assertEquals(address, again.segment().address());
        again.release();
    }

    @Test
    void regionThatIsGivenBackTwiceIsRefused() {
        Region region = memory.allocate(100);
        region.release();
        IllegalStateException twice = assertThrows(IllegalStateException.class, region::release);
        assertEquals("region already given back: byteSize=256", twice.getMessage());
        assertThrows(IllegalStateException.class, region::segment);
        Region one = memory.allocate(100);
        Region other = memory.allocate(100);
        assertNotEquals(one.segment().address(), other.segment().address());
        one.release();
        other.release();
    }

    @Test
    void budgetIsCheckedBeforeMemoryIsTaken() {
        List<Region> held = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            held.add(memory.allocate(SLAB));
        }
        MemoryLimitException full = assertThrows(MemoryLimitException.class, () -> memory.allocate(1));
        assertTrue(full.getMessage().startsWith("memory budget exceeded: requested=2097152"), full.getMessage());
        held.removeLast().release();
        // an idle slab makes room for another size
        memory.allocate(100).release();
        held.forEach(Region::release);
        // idle slabs of one size make room for another
        Region large = memory.allocate(8 * SLAB);
        large.release();
    }

    @Test
    void whatOtherThreadsKeepAtHandIsTakenBackBeforeARefusal() throws Exception {
        Thread[] idle = new Thread[4];
        Object gate = new Object();
        CompletableFuture<?>[] ready = new CompletableFuture<?>[idle.length];
        for (int i = 0; i < idle.length; i++) {
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            ready[i] = done;
            idle[i] = Thread.ofPlatform().start(() -> {
                List<Region> all = new ArrayList<>();
                for (int k = 0; k < 8; k++) {
                    all.add(memory.allocate(EIGHTH));
                }
                all.forEach(Region::release);
                done.complete(true);
                synchronized (gate) {
                    try {
                        gate.wait();
                    } catch (InterruptedException end) {
                        Thread.currentThread().interrupt();
                    }
                }
            });
            done.get();
        }
        memory.allocate(8 * SLAB).release();
        synchronized (gate) {
            gate.notifyAll();
        }
        for (Thread each : idle) {
            each.interrupt();
            each.join();
        }
    }

    @Test
    void regionsAtHandOfAnotherThreadComeBeforeARefusal() throws Exception {
        MemoryBudget one = new MemoryBudget(SLAB);
        try (SlabSource small = SlabSource.builder().budget(one).build()) {
            CompletableFuture<Region> kept = new CompletableFuture<>();
            CompletableFuture<Void> end = new CompletableFuture<>();
            Thread other = Thread.ofPlatform().start(() -> {
                List<Region> all = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    all.add(small.allocate(EIGHTH));
                }
                all.subList(1, 8).forEach(Region::release);
                kept.complete(all.getFirst());
                end.join();
            });
            List<Region> here = new ArrayList<>(List.of(kept.get()));
            for (int i = 1; i < 8; i++) {
                here.add(small.allocate(EIGHTH));
            }
            assertThrows(MemoryLimitException.class, () -> small.allocate(EIGHTH));
            here.forEach(Region::release);
            end.complete(null);
            other.join();
        }
        assertEquals(0, one.used());
    }

    /// A class of a program's own, such as one whose threads are equal by their role.
    private static final class Worker extends Thread {

        Worker(Runnable work) {
            super(work);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Worker;
        }

        @Override
        public int hashCode() {
            return 7;
        }
    }

    @Test
    void threadsThatAreEqualHaveAMagazineEach() throws Exception {
        CountDownLatch done = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread worker = new Worker(() -> {
                memory.allocate(1000).release();
                done.countDown();
                assertDoesNotThrow(() -> end.await());
            });
            worker.start();
            workers.add(worker);
        }
        assertTrue(done.await(1, TimeUnit.MINUTES));
        assertEquals(2, memory.figures().magazines());
        end.countDown();
        for (Thread worker : workers) {
            worker.join();
        }
    }

    @Test
    void slotsOfAThreadThatEndedGoHome() throws Exception {
        on(() -> {
            memory.allocate(1000).release();
            return null;
        });
        memory.trim();
        assertEquals(0, memory.figures().magazines());
        assertEquals(0, memory.bookedBytes());
    }

    @Test
    void idleSlabsGoBackByThemselves() throws InterruptedException {
        try (SlabSource quick =
                SlabSource.builder().budget(budget).idle(Duration.ofMillis(20)).build()) {
            List<Region> burst = new ArrayList<>();
            for (int i = 0; i < 4 * 8; i++) {
                burst.add(quick.allocate(EIGHTH));
            }
            assertEquals(4 * SLAB, quick.bookedBytes());
            burst.forEach(Region::release);
            awaitNothingBooked(quick);
        }
    }

    @Test
    void supplierThatFailsLeavesTheBudgetAsItWas() {
        int[] calls = new int[1];
        try (SlabSource failing = SlabSource.builder()
                .budget(budget)
                .supplier(bytes -> {
                    if (calls[0]++ == 0) {
                        throw new OutOfMemoryError("no more");
                    }
                    return SlabSupplier.arenas().take(bytes);
                })
                .build()) {
            assertThrows(OutOfMemoryError.class, () -> failing.allocate(100));
            assertEquals(0, budget.used());
            failing.allocate(100).release();
            assertEquals(SLAB, budget.used());
        }
        assertEquals(0, budget.used());
    }

    @Test
    void slabsThatASupplierFailsToGiveBackAreTriedAgain() {
        try (SlabSource source = SlabSource.builder()
                .budget(budget)
                .supplier(failingToEnd(6))
                .idle(Duration.ofHours(1))
                .build()) {
            takeAndGive(source, 5);
            assertThrows(OutOfMemoryError.class, source::trim);
            assertEquals(5 * SLAB, source.bookedBytes());
            assertThrows(OutOfMemoryError.class, source::trim);
            assertEquals(SLAB, source.bookedBytes());
            source.trim();
            assertEquals(0, source.bookedBytes());
        }
    }

    @Test
    void sourcesThreadGoesOnAfterAnError() throws InterruptedException {
        try (SlabSource source = SlabSource.builder()
                .budget(budget)
                .supplier(failingToEnd(2))
                .idle(Duration.ofMillis(20))
                .build()) {
            takeAndGive(source, 5);
            awaitNothingBooked(source);
        }
    }

    private static void takeAndGive(SlabSource source, int slabs) {
        List<Region> all = new ArrayList<>();
        for (int i = 0; i < slabs; i++) {
            all.add(source.allocate(SLAB));
        }
        all.forEach(Region::release);
    }

    private static void awaitNothingBooked(SlabSource source) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (source.bookedBytes() > 0 && System.nanoTime() < deadline) {
            Thread.sleep(5);
        }
        assertEquals(0, source.bookedBytes());
    }

    /// Its first calls to end a slab's memory fail.
    private static SlabSupplier failingToEnd(int times) {
        AtomicInteger failures = new AtomicInteger(times);
        return bytes -> {
            SlabSupplier.Memory memory = SlabSupplier.arenas().take(bytes);
            return new SlabSupplier.Memory() {
                @Override
                public MemorySegment segment() {
                    return memory.segment();
                }

                @Override
                public void end() {
                    if (failures.getAndDecrement() > 0) {
                        throw new OutOfMemoryError("not now");
                    }
                    memory.end();
                }
            };
        };
    }

    @Test
    void supplierThatGivesTheWrongMemoryIsNamed() {
        try (SlabSource wrong = SlabSource.builder()
                .budget(budget)
                .supplier(bytes -> SlabSupplier.arenas().take(bytes / 2))
                .build()) {
            IllegalStateException failure = assertThrows(IllegalStateException.class, () -> wrong.allocate(100));
            assertTrue(failure.getMessage().startsWith("slab supplier gave the wrong memory:"), failure.getMessage());
            assertEquals(0, budget.used());
        }
    }

    @Test
    void builderGrowsInOnePiece() {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            for (int i = 0; i < 10_000; i++) {
                builder.putInt(i);
            }
            try (SealedBuffer message = builder.seal()) {
                BufferReader reader = BufferReader.of(message);
                for (int i = 0; i < 10_000; i++) {
                    assertEquals(i, reader.getInt());
                }
                assertFalse(reader.hasRemaining());
                assertEquals(1, message.iovec().regionCount());
            }
        }
    }

    @Test
    void closedSourceTakesBackWhatIsStillOpen() throws InterruptedException {
        SealedBuffer open = sealed(5, 64);
        memory.close();
        assertEquals(5, open.iovec().getInt(0));
        assertThrows(IllegalStateException.class, () -> memory.allocate(1));
        IllegalStateException early =
                assertThrows(IllegalStateException.class, () -> memory.close(Duration.ofMillis(10)));
        assertTrue(
                early.getMessage().startsWith("memory source closed with open handles: slabs=1"), early.getMessage());
        open.close();
        memory.close(PATIENCE);
        assertEquals(0, budget.used());
    }

    @Test
    void largeMemoryThatAVirtualThreadGivesBackIsTakenNext() throws Exception {
        Region region = memory.allocate(1 << 20);
        long address = region.segment().address();
        for (int i = 0; i < 4; i++) {
            Region given = region;
            Thread.ofVirtual().start(given::release).join();
            region = memory.allocate(1 << 20);
            assertEquals(address, region.segment().address());
        }
        region.release();
    }

    @Test
    void virtualThreadsShareAFewStripes() throws Exception {
        List<Thread> all = new ArrayList<>();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 1000; i++) {
            all.add(Thread.ofVirtual()
                    .uncaughtExceptionHandler((_, failure) -> failures.add(failure))
                    .start(() -> {
                        for (int k = 0; k < 100; k++) {
                            Region region = memory.allocate(512);
                            region.segment().set(ValueLayout.JAVA_INT, 0, k);
                            Thread.yield();
                            assertEquals(k, region.segment().get(ValueLayout.JAVA_INT, 0));
                            region.release();
                        }
                    }));
        }
        for (Thread each : all) {
            each.join();
        }
        assertEquals(List.of(), List.copyOf(failures));
        assertEquals(0, memory.figures().magazines());
        memory.trim();
        assertEquals(0, memory.figures().liveBytes());
    }

    @Test
    void switchedOffItIsTheDefaultSource() throws InterruptedException {
        SlabSource off = SlabSource.builder().budget(budget).reuse(false).build();
        Region one = off.allocate(100);
        long address = one.segment().address();
        assertNull(one.generation());
        one.release();
        Region other = off.allocate(100);
        assertNotEquals(address, other.segment().address());
        other.release();
        // its memory goes back on a thread of its own
        off.close(PATIENCE);
    }

    @Test
    void slabIdsAreNeverUsedAgain() {
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            PooledRegion region = (PooledRegion) memory.allocate(SLAB);
            assertTrue(ids.add(region.slot().slab.id()));
            region.release();
        }
        assertEquals(SLAB, budget.used());
    }

    private SealedBuffer sealed(int fill, int ints) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            for (int i = 0; i < ints; i++) {
                builder.putInt(fill);
            }
            return builder.seal();
        }
    }

    private static void assertStale(Callable<?> read) {
        IllegalStateException stale = assertThrows(IllegalStateException.class, read::call);
        assertTrue(stale.getMessage().startsWith("stale view: its memory was given back"), stale.getMessage());
    }

    private static <T> T on(Callable<T> what) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                result.complete(what.call());
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        });
        thread.join();
        return result.get();
    }
}
