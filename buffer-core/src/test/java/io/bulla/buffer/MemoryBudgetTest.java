// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.refcount.LeaseLedger;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {

    private static final long MIB = 1 << 20;

    @Test
    void limitIsHardAndRefusalTakesNothing() {
        MemoryBudget budget = new MemoryBudget(100);
        assertTrue(budget.tryTake(60));
        assertFalse(budget.tryTake(41));
        assertFalse(budget.tryTake(Long.MAX_VALUE));
        assertEquals(60, budget.used());
        budget.take(40);
        assertEquals(
                "memory budget exceeded: requested=1 used=100 limit=100",
                assertThrows(MemoryLimitException.class, () -> budget.take(1)).getMessage());
        budget.give(100);
        assertEquals(0, budget.used());
        assertEquals(100, budget.peak());
        assertEquals(100, budget.total());
    }

    @Test
    void peakIsTheMostThereWasAtOneTime() {
        MemoryBudget budget = new MemoryBudget(100);
        budget.take(60);
        budget.give(60);
        budget.take(10);
        assertEquals(60, budget.peak());
        assertEquals(70, budget.total());
    }

    @Test
    void moreGivenBackThanTakenIsRefusedAndChangesNothing() {
        MemoryBudget budget = new MemoryBudget(100);
        budget.take(10);
        assertEquals(
                "more given back than was taken: bytes=11 used=10 limit=100",
                assertThrows(IllegalStateException.class, () -> budget.give(11)).getMessage());
        assertEquals(10, budget.used());
    }

    @Test
    void negativeBytesWouldRaiseTheLimitAndAreRefused() {
        MemoryBudget budget = new MemoryBudget(100);
        for (Runnable wrong :
                List.<Runnable>of(() -> budget.take(-1), () -> budget.tryTake(-1), () -> budget.give(-1))) {
            assertEquals(
                    "a number of bytes is not negative: bytes=-1",
                    assertThrows(IllegalArgumentException.class, wrong::run).getMessage());
        }
        assertEquals(0, budget.used());
        assertEquals(0, budget.total());
    }

    @Test
    void emptyBudgetIsRefused() {
        assertEquals(
                "a budget is at least one byte: limit=0",
                assertThrows(IllegalArgumentException.class, () -> new MemoryBudget(0))
                        .getMessage());
    }

    @Test
    void oneByteIsABudgetAndNoBytesAreANumber() {
        MemoryBudget budget = new MemoryBudget(1);
        budget.take(0);
        budget.take(1);
        assertTrue(budget.tryTake(0), "a full one has room for nothing");
        budget.give(0);
        assertEquals(1, budget.used());
    }

    @Test
    void threadsThatFightForItNeverExceedIt() throws InterruptedException {
        MemoryBudget budget = new MemoryBudget(10);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                for (int n = 0; n < 50_000; n++) {
                    if (budget.tryTake(4)) {
                        budget.give(4);
                    }
                }
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, budget.used());
        assertTrue(budget.peak() <= 8, "peak=" + budget.peak());
    }

    @Test
    void refusalSaysWhoHoldsWhat() {
        MemoryBudget budget = new MemoryBudget(2 * MIB);
        try (ArenaSource source = ArenaSource.create(budget, LeaseLedger.full())) {
            SealedBuffer[] held = new SealedBuffer[3];
            held[0] = Bytes.sealed(source, (int) MIB, "peer-1");
            held[1] = held[0].share("peer-2");
            held[2] = Bytes.sealed(source, 100_000, "log");
            String message = assertThrows(
                            MemoryLimitException.class,
                            () -> BufferBuilder.ofCapacity(source, 8 * MIB).putByte((byte) 1))
                    .getMessage();
            assertTrue(
                    message.matches("memory budget exceeded: requested=8388608 used=2097152 limit=2097152 held by"
                            + " \\[peer-[12]: handles=1 size=1048576 oldest=\\d+ms; peer-[12]: .*;"
                            + " log: handles=1 size=100000 oldest=\\d+ms]"),
                    message);
            assertEquals(2 * MIB, budget.used());
            for (SealedBuffer each : held) {
                each.close();
            }
        }
        Await.until(() -> budget.used() == 0);
    }

    @Test
    void refusalInTheMiddleOfABuilderTakesNothingAndTheBuilderGoesOn() {
        MemoryBudget budget = new MemoryBudget(MIB);
        try (ArenaSource source = ArenaSource.create(budget, null)) {
            BufferBuilder builder = BufferBuilder.create(source).putInt(1);
            long used = budget.used();
            assertThrows(MemoryLimitException.class, () -> builder.put(new byte[4 << 20]));
            assertEquals(used, budget.used());
            try (SealedBuffer sealed = builder.putInt(2).seal()) {
                assertEquals(8, sealed.byteSize());
            }
        }
        Await.until(() -> budget.used() == 0);
    }

    @Test
    void severalSourcesShareOne() {
        MemoryBudget budget = new MemoryBudget(2 * MIB);
        try (ArenaSource one = ArenaSource.create(budget, null);
                ArenaSource other = ArenaSource.create(budget, null)) {
            List<SealedBuffer> held = new ArrayList<>();
            held.add(Bytes.sealed(one, (int) MIB));
            held.add(Bytes.sealed(other, (int) MIB));
            assertThrows(MemoryLimitException.class, () -> Bytes.sealed(one, (int) MIB));
            held.forEach(SealedBuffer::close);
            Await.until(() -> budget.used() == 0);
            Bytes.sealed(one, 2 * (int) MIB).close();
        }
        Await.until(() -> budget.used() == 0);
    }

    @Test
    void adoptedMemoryIsCountedApart() {
        long before = MemoryBudget.adopted();
        long used = MemoryBudget.ofProcess().used();
        SealedBuffer foreign = SealedBuffer.adopt(MemorySegment.ofArray(new byte[123]), () -> {});
        assertEquals(before + 123, MemoryBudget.adopted());
        assertEquals(used, MemoryBudget.ofProcess().used());
        foreign.close();
        assertEquals(before, MemoryBudget.adopted());
    }

    @Test
    void defaultIsAQuarterOfTheMachine() {
        assertSame(MemoryBudget.ofProcess(), MemoryBudget.ofProcess());
        assertEquals(JvmDiagnostics.memory() / 4, MemoryBudget.ofProcess().limit());
        // the heap is a quarter of the machine by default; these tests have at least 64 MiB
        assertTrue(MemoryBudget.ofProcess().limit() > 16 * MIB);
        assertEquals(Long.MAX_VALUE, MemoryBudget.unlimited().limit());
    }
}
