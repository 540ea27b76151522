// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemoryBudget;
import io.bulla.testkit.needs.Piece;
import org.junit.jupiter.api.Test;

class PinBudgetTest {

    private static final String LIMITS = """
            Limit                     Soft Limit           Hard Limit           Units
            Max processes             95886                95886                processes
            Max locked memory         8388608              8388608              bytes
            """;

    @Test
    void systemsOwnLimitIsRead() {
        PinLimits plain = PinLimits.parse(LIMITS, "Name:\tjava\nCapEff:\t0000000000000000\n");
        assertEquals(new PinLimits(8388608, false), plain);
        assertEquals(7864320, PinBudget.ofSystem(plain));
        assertEquals("rlimit=8388608 CAP_IPC_LOCK=no", plain.toString());
    }

    @Test
    void privilegedProcessesAndOtherSystemsHaveNone() {
        PinLimits root = PinLimits.parse(LIMITS, "CapEff:\t000001fffeffffff\n");
        assertTrue(root.privileged());
        assertEquals(MemoryBudget.ofProcess().limit(), PinBudget.ofSystem(root));
        PinLimits none = PinLimits.parse("Max locked memory  unlimited unlimited bytes\n", "");
        assertEquals(new PinLimits(Long.MAX_VALUE, false), none);
        assertEquals(none, PinLimits.parse("", ""));
        assertEquals(MemoryBudget.ofProcess().limit(), PinBudget.ofSystem(none));
    }

    @Test
    void limitIsNeverPassed() {
        PinBudget budget = new PinBudget(10);
        assertTrue(budget.tryTake(10));
        assertFalse(budget.tryTake(1));
        budget.give(4);
        assertTrue(budget.tryTake(3));
        assertEquals(9, budget.used());
        assertEquals(10, budget.peak());
        assertThrows(IllegalStateException.class, () -> budget.give(10));
        assertThrows(IllegalArgumentException.class, () -> new PinBudget(-1));
        assertTrue(budget.toString().startsWith("pinned=9 limit=10 rlimit="), budget::toString);
    }

    @Test
    void fewerThanNoBytesAreRefused() {
        PinBudget budget = new PinBudget(10);
        assertTrue(budget.tryTake(10));
        IllegalArgumentException taken = assertThrows(IllegalArgumentException.class, () -> budget.tryTake(-50));
        assertEquals("fewer than no bytes: bytes=-50", taken.getMessage());
        assertThrows(IllegalArgumentException.class, () -> budget.give(-50));
        assertEquals(10, budget.used());
        assertFalse(budget.tryTake(1));
    }

    @Test
    void noBytesAreANumber() {
        PinBudget budget = new PinBudget(0);
        assertEquals(0, budget.limit());
        assertTrue(budget.tryTake(0));
        budget.give(0);
        assertEquals(10, new PinBudget(10).limit());
    }

    @Test
    void processHasOne() {
        assertTrue(PinBudget.ofProcess() == PinBudget.ofProcess());
        long limit = PinBudget.ofProcess().limit();
        Piece.LOCKED_MEMORY.orSkip(limit == 0 ? "nothing may be locked" : null);
        assertTrue(limit > 0);
    }
}
