// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// The thread that gives memory back.
class SweeperTest {

    private static final long PATIENCE = 30_000;

    private final MemoryBudget budget = new MemoryBudget(8 * SlabSource.SLAB);
    private final BlockingQueue<Thread> givingBack = new LinkedBlockingQueue<>();
    private final BlockingQueue<Thread> ending = new LinkedBlockingQueue<>();
    private volatile boolean discards;
    private volatile int endFails;

    /// Says which thread gives back.
    private SlabSource source() {
        return SlabSource.builder()
                .budget(budget)
                .idle(Duration.ofMillis(4))
                .supplier(bytes -> {
                    SlabSupplier.Memory memory = SlabSupplier.arenas().take(bytes);
                    return new SlabSupplier.Memory() {
                        @Override
                        public MemorySegment segment() {
                            return memory.segment();
                        }

                        @Override
                        public boolean discard() {
                            givingBack.add(Thread.currentThread());
                            return discards;
                        }

                        @Override
                        public void end() {
                            if (endFails > 0) {
                                endFails--;
                                throw new InternalError("not now");
                            }
                            memory.end();
                            ending.add(Thread.currentThread());
                        }
                    };
                })
                .build();
    }

    @Test
    void threadBelongsToNoCaller() throws InterruptedException {
        Thread.currentThread().setContextClassLoader(new ClassLoader("the caller's", null) {});
        int priority = Thread.currentThread().getPriority();
        try (SlabSource memory = source()) {
            Thread.currentThread().setPriority(Thread.MAX_PRIORITY);
            memory.allocate(100).release();
            Thread sweeper = givingBack.poll(PATIENCE, TimeUnit.MILLISECONDS);
            assertNotNull(sweeper);
            assertNotSame(Thread.currentThread(), sweeper);
            assertTrue(sweeper.isDaemon(), "it keeps no process");
            assertEquals("bulla-pool-sweeper", sweeper.getName());
            // whatever the thread is that asked first, or that it has ended
            ThreadGroup group = sweeper.getThreadGroup();
            assertTrue(group == null || group.getParent() == null);
            if (sweeper.isAlive()) {
                assertEquals(Thread.NORM_PRIORITY, sweeper.getPriority());
            }
        } finally {
            Thread.currentThread().setPriority(priority);
            Thread.currentThread().setContextClassLoader(ClassLoader.getSystemClassLoader());
        }
    }

    @Test
    void threadEndsWithNothingToDoAndStartsAgain() throws InterruptedException {
        try (SlabSource memory = source()) {
            memory.allocate(100).release();
            Thread first = givingBack.poll(PATIENCE, TimeUnit.MILLISECONDS);
            assertNotNull(first);
            assertTrue(first.join(Duration.ofMillis(PATIENCE)), "no memory is booked");
            memory.allocate(100).release();
            Thread second = givingBack.poll(PATIENCE, TimeUnit.MILLISECONDS);
            assertNotNull(second);
            assertNotSame(first, second);
            assertTrue(second.join(Duration.ofMillis(PATIENCE)));
        }
        assertEquals(0, budget.used());
    }

    /// Addresses that are left at the close are ended then, or by a thread that is started for them.
    @Test
    void addressesOfAnEscapedViewAreEndedAfterTheClose() throws InterruptedException {
        SlabSource memory = source();
        discards = true;
        SealedBuffer seen =
                BufferBuilder.ofCapacity(memory, SlabSource.SLAB).putInt(7).seal();
        seen.iovec().region(0);
        seen.close();
        addressesAreEndedAfterTheClose(memory);
    }

    @Test
    void addressesThatCouldBeTakenAgainAreEndedAfterTheClose() throws InterruptedException {
        SlabSource memory = source();
        discards = true;
        memory.allocate(SlabSource.SLAB).release();
        addressesAreEndedAfterTheClose(memory);
    }

    private void addressesAreEndedAfterTheClose(SlabSource memory) throws InterruptedException {
        Thread first = givingBack.poll(PATIENCE, TimeUnit.MILLISECONDS);
        assertNotNull(first);
        assertTrue(first.join(Duration.ofMillis(PATIENCE)));
        assertEquals(0, budget.used());
        assertNull(ending.poll(), "the addresses are kept");
        endFails = 1;
        memory.close();
        Thread last = ending.poll(PATIENCE, TimeUnit.MILLISECONDS);
        assertNotNull(last);
        assertNotSame(first, last);
        assertTrue(last.join(Duration.ofMillis(PATIENCE)), "there is nothing left to do");
    }

    @Test
    void threadOfAClosedSourceEnds() throws InterruptedException {
        SlabSource memory = source();
        var open = memory.allocate(SlabSource.SLAB);
        memory.close();
        open.release();
        Thread sweeper = ending.poll(PATIENCE, TimeUnit.MILLISECONDS);
        assertNotNull(sweeper);
        assertTrue(sweeper.join(Duration.ofMillis(PATIENCE)));
        assertEquals(0, budget.used());
    }

    /// An interrupt is of no concern to it.
    @Test
    void interruptedThreadGoesOn() throws InterruptedException {
        try (SlabSource memory = source()) {
            var kept = memory.allocate(SlabSource.SLAB);
            memory.allocate(100).release();
            Thread sweeper = givingBack.poll(PATIENCE, TimeUnit.MILLISECONDS);
            assertNotNull(sweeper);
            sweeper.interrupt();
            memory.allocate(100).release();
            assertSame(sweeper, givingBack.poll(PATIENCE, TimeUnit.MILLISECONDS));
            kept.release();
        }
    }

    @Test
    void wokenThreadTakesItsStepHoweverLongItsPauseIs() throws InterruptedException {
        BlockingQueue<String> steps = new LinkedBlockingQueue<>();
        Sweeper sweeper = new Sweeper(
                () -> {
                    steps.add("step");
                    return false;
                },
                Long.MAX_VALUE);
        sweeper.start();
        sweeper.wake();
        assertNotNull(steps.poll(PATIENCE, TimeUnit.MILLISECONDS));
    }

    @Test
    void pauseIsAFourthOfTheIdleTime() {
        assertEquals(1_000_000, Sweeper.pause(1_000_000), "at least a millisecond");
        assertEquals(5_000_000, Sweeper.pause(20_000_000));
        assertEquals(250_000_000, Sweeper.pause(Long.MAX_VALUE), "at most");
    }
}
