// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Slabs in arenas of the JDK's.
class ArenaMemoryTest {

    private static final long SLAB = SlabSource.SLAB;
    private static final long MIB = 1 << 20;
    private static final boolean LINUX = "Linux".equals(System.getProperty("os.name"));

    private final List<Refusing> arenas = new ArrayList<>();

    /// Has no memory of more than one alignment.
    private static final class Refusing implements Arena {

        private final Arena real = Arena.ofShared();
        private final long most;

        Refusing(long most) {
            this.most = most;
        }

        @Override
        public MemorySegment allocate(long byteSize, long byteAlignment) {
            if (byteAlignment > most) {
                throw new OutOfMemoryError("by the test");
            }
            return real.allocate(byteSize, byteAlignment);
        }

        @Override
        public MemorySegment.Scope scope() {
            return real.scope();
        }

        @Override
        public void close() {
            real.close();
        }
    }

    private Refusing arena(long most) {
        Refusing arena = new Refusing(most);
        arenas.add(arena);
        return arena;
    }

    @Test
    void slabsThatWouldBeInTheHeapOfTheSystemAreAlignedToMoreThanThat() {
        long more = LINUX ? 32 * MIB : SLAB;
        assertEquals(more, ArenaMemory.alignment(SLAB));
        assertEquals(more, ArenaMemory.alignment(30 * MIB));
        assertEquals(SLAB, ArenaMemory.alignment(30 * MIB + 1));
        assertEquals(SLAB, ArenaMemory.alignment(32 * MIB));
        SlabSupplier.Memory memory = ArenaMemory.take(SLAB, () -> arena(more));
        assertEquals(1, arenas.size());
        assertEquals(SLAB, memory.segment().byteSize());
        assertEquals(0, memory.segment().address() % more);
        memory.end();
    }

    @Test
    void slabIsTakenWhereAddressesAreShort() {
        // where nothing else is asked for, the first try has it
        SlabSupplier.Memory memory = ArenaMemory.take(SLAB, () -> arena(SLAB));
        assertEquals(LINUX ? 2 : 1, arenas.size());
        assertEquals(0, memory.segment().address() % SLAB);
        assertEquals(!LINUX, arenas.getFirst().scope().isAlive(), "one without memory ends");
        memory.end();
        assertFalse(arenas.getLast().scope().isAlive());
    }

    @Test
    void arenasThatHaveNoMemoryEnd() {
        assertTrue(isRefused(SLAB));
        assertEquals(LINUX ? 2 : 1, arenas.size());
        assertTrue(arenas.stream().noneMatch(arena -> arena.scope().isAlive()));
        arenas.clear();
        assertTrue(isRefused(40 * MIB));
        assertEquals(1, arenas.size(), "with the least alignment already");
        assertTrue(arenas.stream().noneMatch(arena -> arena.scope().isAlive()));
    }

    /// JUnit ends the run at such an error.
    private boolean isRefused(long bytes) {
        try {
            ArenaMemory.take(bytes, () -> arena(1));
            return false;
        } catch (OutOfMemoryError none) {
            return true;
        }
    }

    @Test
    void memoryEndsOnce() {
        SlabSupplier.Memory memory = SlabSupplier.arenas().take(SLAB);
        MemorySegment segment = memory.segment();
        assertFalse(memory.discard(), "its addresses go with its pages");
        memory.end();
        assertFalse(segment.scope().isAlive());
        memory.end();
    }
}
