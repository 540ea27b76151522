// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.memfd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.pool.SlabSource;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HugePagesTest {

    private final MemoryBudget budget = new MemoryBudget(16 * SlabSource.SLAB);

    @Test
    void pagesGoBackAtATrimAndTheAddressesStay() throws InterruptedException {
        SlabSource memory =
                SlabSource.builder().budget(budget).supplier(new HugePages()).build();
        Region region = memory.allocate(3 * SlabSource.SLAB);
        MemorySegment raw = region.segment();
        assertEquals(0, raw.address() % SlabSource.SLAB);
        raw.fill((byte) 7);
        region.release();
        assertEquals(3 * SlabSource.SLAB, budget.used());
        memory.trim();
        assertEquals(0, budget.used());
        assertEquals(0, raw.get(ValueLayout.JAVA_BYTE, 12_345));
        // the same addresses are used again, under the budget
        Region again = memory.allocate(3 * SlabSource.SLAB);
        assertEquals(raw.address(), again.segment().address());
        assertEquals(3 * SlabSource.SLAB, budget.used());
        again.release();
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
        assertThrows(IllegalStateException.class, () -> raw.get(ValueLayout.JAVA_BYTE, 0));
    }

    /// What a full heap keeps from being unmapped is unmapped by the next try.
    @Test
    void mappingWhoseEndFailsHalfWayIsEndedAgain() throws InterruptedException {
        SlabSource memory =
                SlabSource.builder().budget(budget).supplier(new HugePages()).build();
        memory.allocate(3 * SlabSource.SLAB).release();
        AtomicBoolean full = new AtomicBoolean(true);
        AtomicInteger unmapped = new AtomicInteger();
        SyscallInterceptor.watch((call, _) -> {
            if (call.equals("munmap")) {
                if (full.getAndSet(false)) {
                    throw new OutOfMemoryError("full, for a test");
                }
                unmapped.incrementAndGet();
            }
            return 0;
        });
        try {
            try {
                memory.close(Duration.ofSeconds(30));
            } catch (OutOfMemoryError once) {
                memory.close(Duration.ofSeconds(30));
            }
            for (int wait = 0; wait < 60_000 && unmapped.get() == 0; wait++) {
                Thread.sleep(1);
            }
        } finally {
            SyscallInterceptor.watch(null);
        }
        assertFalse(full.get());
        assertEquals(1, unmapped.get());
        assertEquals(0, budget.used());
    }

    @Test
    void machineWithoutMemoryIsAnErrorThatLeavesTheBudget() {
        MemoryBudget large = MemoryBudget.unlimited();
        try (SlabSource memory =
                SlabSource.builder().budget(large).supplier(new HugePages()).build()) {
            assertThrows(OutOfMemoryError.class, () -> memory.allocate(1L << 60));
            assertEquals(0, large.used());
            memory.allocate(100).release();
        }
    }
}
