// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A supplier that calls back while it is asked: into the builder, the region and the source that asked.
class CallingSupplierTest {

    private static final long SLAB = SlabSource.SLAB;

    private final MemoryBudget budget = new MemoryBudget(16 * SLAB);
    private final Calling supplier = new Calling();
    private final SlabSource memory = SlabSource.builder()
            .budget(budget)
            .supplier(supplier)
            .idle(Duration.ofHours(1))
            .build();
    private final List<Region> filling = new ArrayList<>();
    private final List<SealedBuffer> sealed = new ArrayList<>();

    @AfterEach
    void allIsGivenBack() throws InterruptedException {
        supplier.whenTaking = null;
        supplier.whenEnding = null;
        filling.forEach(Region::release);
        sealed.forEach(SealedBuffer::close);
        memory.close(Duration.ofSeconds(30));
        assertEquals(0, budget.used());
        assertEquals(0, supplier.open);
    }

    @Test
    void bufferThatIsSealedWhileItGrowsNeverChanges() {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            put(builder, 32);
            fillSlab();
            supplier.whenTaking = () -> sealed.add(builder.seal());
            assertOver("region already sealed: byteSize=256", builder);
            byte[] content = sealed.getFirst().toByteArray();
            for (int i = 0; i < 128; i++) {
                assertOver("builder already sealed: byteSize=256", builder);
            }
            sealed.add(BufferBuilder.create(memory).put(new byte[256]).seal());
            assertArrayEquals(content, sealed.getFirst().toByteArray());
        }
    }

    @Test
    void bufferThatIsSealedWhileAnotherRegionIsTakenNeverChanges() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, 256)) {
            put(builder, 32);
            fillSlab();
            supplier.whenTaking = () -> sealed.add(builder.seal());
            IllegalStateException over =
                    assertThrows(IllegalStateException.class, () -> builder.put(new byte[2 << 20]));
            assertEquals("region already sealed: byteSize=256", over.getMessage());
            assertOver("builder already sealed: byteSize=256", builder);
            assertEquals(256, sealed.getFirst().byteSize());
        }
    }

    @Test
    void builderThatIsClosedWhileItGrowsTakesNothing() {
        BufferBuilder builder = BufferBuilder.create(memory);
        put(builder, 32);
        fillSlab();
        supplier.whenTaking = builder::close;
        assertOver("region already given back: byteSize=256", builder);
        assertOver("builder already abandoned: byteSize=256", builder);
    }

    @Test
    void regionThatIsSealedIsNotGrown() {
        Region region = memory.allocate(256);
        memory.seal(region, 8);
        assertSealed(() -> memory.grow(region, 1000));
        assertSealed(() -> memory.grow(region, 100));
        assertSealed(() -> memory.seal(region, 16));
        region.release();
    }

    @Test
    void regionThatIsSealedOrGivenBackWhileItGrowsKeepsWhatItHas() {
        Region one = memory.allocate(256);
        Region other = memory.allocate(256);
        fillSlab();
        supplier.whenTaking = () -> memory.seal(one, 8);
        assertSealed(() -> memory.grow(one, 1000));
        one.release();
        filling.add(memory.allocate(SizeClasses.LARGEST));
        filling.add(memory.allocate(896 << 10));
        supplier.whenTaking = other::release;
        IllegalStateException given = assertThrows(IllegalStateException.class, () -> memory.grow(other, 500_000));
        assertEquals("region already given back: byteSize=256", given.getMessage());
    }

    @Test
    void regionThatGrowsWhileItGrowsKeepsTheFirstGrowth() {
        Region region = memory.allocate(256);
        region.segment().fill((byte) 7);
        fillSlab();
        supplier.whenTaking = () -> memory.grow(region, 400_000);
        IllegalStateException twice = assertThrows(IllegalStateException.class, () -> memory.grow(region, 1000));
        assertTrue(twice.getMessage().startsWith("region grew already: byteSize=458752"), twice.getMessage());
        assertEquals(7, region.segment().get(ValueLayout.JAVA_BYTE, 255));
        region.release();
    }

    @Test
    void sourceThatIsClosedWhileItTakesASlabHandsOutNothing() {
        for (long bytes : new long[] {100, SLAB}) {
            int before = supplier.open;
            SlabSource closing = SlabSource.builder()
                    .budget(budget)
                    .supplier(supplier)
                    .idle(Duration.ofHours(1))
                    .build();
            supplier.whenTaking = closing::close;
            IllegalStateException closed = assertThrows(IllegalStateException.class, () -> closing.allocate(bytes));
            assertTrue(closed.getMessage().startsWith("memory source already closed: requested="), closed.getMessage());
            assertEquals(0, budget.used());
            assertEquals(before, supplier.open);
        }
    }

    @Test
    void otherBuilderOfTheSourceIsSealedWhileASlabIsTaken() {
        supplier.whenTaking = () -> {
            try (BufferBuilder other = BufferBuilder.create(memory)) {
                sealed.add(other.putLong(3).seal());
            }
            memory.trim();
            memory.figures();
        };
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            sealed.add(builder.putLong(4).seal());
        }
        assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 0, 3}, sealed.get(0).toByteArray());
        assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 0, 4}, sealed.get(1).toByteArray());
    }

    @Test
    void sourceIsUsedOutOfTheEndOfASlab() {
        for (int i = 0; i < 3; i++) {
            filling.add(memory.allocate(SLAB));
        }
        filling.forEach(Region::release);
        filling.clear();
        supplier.whenEnding = () -> {
            filling.add(memory.allocate(SLAB));
            memory.trim();
            memory.close();
        };
        memory.trim();
        assertThrows(IllegalStateException.class, () -> memory.allocate(1));
        assertEquals(SLAB, budget.used());
    }

    private static void put(BufferBuilder builder, int longs) {
        for (int i = 0; i < longs; i++) {
            builder.putLong(i);
        }
    }

    /// Behind a list of the smallest regions: the slab has no room then.
    private void fillSlab() {
        for (int bytes : new int[] {SizeClasses.LARGEST, 896 << 10, 112 << 10}) {
            filling.add(memory.allocate(bytes));
        }
        assertEquals(SLAB, budget.used());
    }

    private static void assertOver(String message, BufferBuilder builder) {
        assertEquals(
                message,
                assertThrows(IllegalStateException.class, () -> builder.putLong(-1))
                        .getMessage());
    }

    private static void assertSealed(Runnable use) {
        assertEquals(
                "region already sealed: byteSize=256",
                assertThrows(IllegalStateException.class, use::run).getMessage());
    }

    private static final class Calling implements SlabSupplier {

        private Runnable whenTaking;
        private Runnable whenEnding;
        private int open;

        @Override
        public Memory take(long byteSize) {
            Runnable back = whenTaking;
            whenTaking = null;
            if (back != null) {
                back.run();
            }
            Memory real = SlabSupplier.arenas().take(byteSize);
            open++;
            return new Memory() {
                @Override
                public MemorySegment segment() {
                    return real.segment();
                }

                @Override
                public void end() {
                    real.end();
                    open--;
                    Runnable ending = whenEnding;
                    whenEnding = null;
                    if (ending != null) {
                        ending.run();
                    }
                }
            };
        }
    }
}
