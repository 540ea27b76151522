// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Memory on its way back to the machine is no reason to refuse more.
class BackPressureTest {

    private static final int ROUNDS = 300;

    @ParameterizedTest
    @ValueSource(longs = {200, 30_000, 100_000, 400_000, 3_000_000})
    void aBudgetForOneChunkIsEnoughForOneBufferAtATime(long bytes) {
        MemoryBudget budget = new MemoryBudget(4 << 20);
        try (ArenaSource source = ArenaSource.builder().budget(budget).build()) {
            for (int i = 0; i < ROUNDS; i++) {
                try (SealedBuffer buffer =
                        BufferBuilder.ofCapacity(source, bytes).putInt(i).seal()) {
                    assertEquals(Integer.BYTES, buffer.byteSize());
                }
            }
        }
        assertTrue(budget.peak() <= budget.limit());
    }

    @Test
    void anUnusedBlockMakesRoomForALargeBuffer() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        try (ArenaSource source = ArenaSource.builder().budget(budget).build()) {
            BufferBuilder.create(source).putInt(1).seal().close();
            assertTrue(budget.used() > 0);
            BufferBuilder.ofCapacity(source, 1 << 20).putInt(1).seal().close();
        }
    }

    @Test
    void aBlockInUseStaysAndIsStillCarvedAfterARefusal() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        try (ArenaSource source = ArenaSource.builder().budget(budget).build();
                SealedBuffer held = BufferBuilder.create(source).putInt(1).seal()) {
            long used = budget.used();
            assertThrows(MemoryLimitException.class, () -> BufferBuilder.ofCapacity(source, 1 << 20));
            BufferBuilder.create(source).putInt(1).seal().close();
            assertEquals(used, budget.used());
            assertTrue(held.isOpen());
        }
    }

    @Test
    void whatIsExpectedTakesNoMemoryBeforeTheFirstWrite() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        try (ArenaSource source = ArenaSource.builder().budget(budget).build();
                BufferBuilder expecting = BufferBuilder.expecting(source, 1 << 20)) {
            assertEquals(0, budget.used());
            try (BufferBuilder now = BufferBuilder.ofCapacity(source, 1 << 19)) {
                assertEquals(1 << 19, budget.used(), now::toString);
            }
            expecting.putInt(1);
            assertEquals(1 << 20, budget.used());
        }
    }
}
