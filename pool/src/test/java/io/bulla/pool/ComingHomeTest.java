// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// When slabs come home, and when they are given back.
class ComingHomeTest {

    private static final long SLAB = SlabSource.SLAB;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final MemoryBudget budget = new MemoryBudget(8 * SLAB);
    private final SlabSource memory =
            SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).build();

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        memory.close(PATIENCE);
        assertEquals(0, budget.used());
    }

    /// Lets go when it is asked.
    private static final class Device implements Slab.Holder {

        private final Slab slab;
        private final AtomicInteger asked = new AtomicInteger();

        Device(Region region) {
            slab = Objects.requireNonNull(Slab.of(region));
            assertTrue(slab.hold(this));
        }

        @Override
        public Object owner() {
            return this;
        }

        @Override
        public void wanted() {
            asked.incrementAndGet();
            slab.letGo(this);
        }
    }

    /// Slots at hand come home before devices are asked, and what they let go of is given back by the same call.
    @Test
    void oneTrimGivesBackWhatADeviceKnows() {
        Region region = memory.allocate(100);
        Device device = new Device(region);
        region.release();
        memory.trim();
        assertEquals(1, device.asked.get());
        assertEquals(0, memory.bookedBytes());
    }

    @Test
    void nothingIsAskedForOrGivenBackBeforeItsTime() throws InterruptedException {
        Region region = memory.allocate(SLAB);
        Device device = new Device(region);
        memory.allocate(2 * SLAB).release();
        // at hand for the next one, until the source's thread finds that none has come
        region.release();
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (device.slab.aloneSince == 0 && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        // some steps of the source's thread
        Thread.sleep(600);
        assertEquals(0, device.asked.get());
        assertEquals(3 * SLAB, memory.bookedBytes());
        memory.trim();
        assertEquals(1, device.asked.get());
        assertEquals(0, memory.bookedBytes());
    }

    /// As when the budget forbids another slab.
    @Test
    void deviceIsAskedWhenTheSupplierHasNoMore() throws InterruptedException {
        AtomicInteger left = new AtomicInteger(1);
        SlabSupplier scarce = bytes -> {
            if (left.getAndDecrement() < 1) {
                throw new OutOfMemoryError("by the test");
            }
            return SlabSupplier.arenas().take(bytes);
        };
        try (SlabSource source = SlabSource.builder()
                .budget(budget)
                .idle(Duration.ofHours(1))
                .supplier(scarce)
                .build()) {
            Region whole = source.allocate(SLAB);
            Device device = new Device(whole);
            whole.release();
            try {
                source.allocate(100).release();
            } catch (OutOfMemoryError refused) {
                // seen below: JUnit ends the run at such an error
            }
            assertEquals(1, device.asked.get());
            source.close(PATIENCE);
        }
    }

    @Test
    void closedSourceAsksADeviceAtOnce() throws InterruptedException {
        Region region = memory.allocate(100);
        Device device = new Device(region);
        memory.close();
        assertEquals(0, device.asked.get(), "a region is in use");
        region.release();
        memory.close(PATIENCE);
        assertEquals(1, device.asked.get());
    }

    @Test
    void closedSourceHoldsNoSlab() {
        Region region = memory.allocate(100);
        Slab slab = Objects.requireNonNull(Slab.of(region));
        memory.close();
        assertEquals(1, slab.holders(), "the region");
        region.release();
    }

    @Test
    void closeWaitsForTheLastHandle() throws InterruptedException {
        SealedBuffer open = BufferBuilder.ofCapacity(memory, 100).putInt(1).seal();
        Thread other = Thread.ofPlatform().start(() -> {
            boolean closed = false;
            while (!closed) {
                try {
                    memory.allocate(SLAB).release();
                } catch (IllegalStateException over) {
                    closed = true;
                }
            }
            open.close();
        });
        memory.close(PATIENCE);
        other.join();
    }

    @Test
    void slabThatIsGivenBackIsForgotten() throws InterruptedException {
        WeakReference<Slab> gone = usedAndGivenBack();
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!gone.refersTo(null) && System.nanoTime() < end) {
            System.gc();
            Thread.sleep(10);
        }
        assertTrue(gone.refersTo(null), "its slots are kept");
    }

    private WeakReference<Slab> usedAndGivenBack() {
        List<Region> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            all.add(memory.allocate(4096));
        }
        Slab slab = Objects.requireNonNull(Slab.of(all.getFirst()));
        all.forEach(Region::release);
        memory.trim();
        assertEquals(0, memory.bookedBytes());
        return new WeakReference<>(slab);
    }

    @Test
    void whatIsInQuarantineIsNotInUse() {
        Region used = memory.allocate(4096);
        SealedBuffer seen = BufferBuilder.ofCapacity(memory, 4096).putInt(1).seal();
        seen.iovec().region(0);
        seen.close();
        memory.trim();
        assertEquals(4096, memory.figures().liveBytes());
        assertEquals(4096, memory.figures().quarantinedBytes());
        used.release();
        memory.trim();
        assertEquals(0, memory.figures().quarantinedBytes());
    }

    @Test
    void trimLeavesItsThreadAMagazine() {
        long end = System.nanoTime() + PATIENCE.toNanos();
        boolean has = false;
        // the source's thread may find it idle in between
        while (!has && System.nanoTime() < end) {
            memory.allocate(100).release();
            memory.trim();
            has = memory.figures().magazines() == 1;
        }
        assertTrue(has);
    }

    /// Threads whose numbers have the same place in the table of magazines.
    @Test
    void threadsOfOnePlaceKeepWhatTheyHaveAtHand() throws Exception {
        Exchanger<String> turns = new Exchanger<>();
        List<Throwable> failures = new ArrayList<>();
        Thread one = new Thread(() -> turns(turns, true, failures));
        Thread other = one;
        while (other == one || (other.threadId() & 255) != (one.threadId() & 255)) {
            other = new Thread(() -> turns(turns, false, failures));
        }
        one.start();
        other.start();
        one.join();
        other.join();
        assertEquals(List.of(), failures);
        PoolFigures figures = memory.figures();
        assertEquals(40, figures.taken() + figures.missed(), "of what is at hand, each time");
        memory.trim();
        assertEquals(0, memory.figures().liveBytes(), "no slot is lost");
    }

    private void turns(Exchanger<String> turns, boolean first, List<Throwable> failures) {
        try {
            for (int i = 0; i < 20; i++) {
                if (first) {
                    memory.allocate(4096).release();
                }
                turns.exchange("to the other", 30, TimeUnit.SECONDS);
                if (!first) {
                    memory.allocate(4096).release();
                }
                turns.exchange("and back", 30, TimeUnit.SECONDS);
            }
        } catch (Exception | AssertionError failure) {
            synchronized (failures) {
                failures.add(failure);
            }
        }
    }

    @Test
    void sourceThatIsClosedTwiceIsClosed() {
        memory.close();
        memory.close();
        assertThrows(IllegalStateException.class, () -> memory.allocate(100));
    }
}
