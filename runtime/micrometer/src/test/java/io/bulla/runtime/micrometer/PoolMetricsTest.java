// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PoolMetricsTest {

    private static final Tag APP = Tag.of("app", "trial");
    private static final long SLAB = SlabSource.SLAB;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SlabSource memory = SlabSource.builder()
            .budget(new MemoryBudget(16 * SLAB))
            .idle(Duration.ofHours(1))
            .build();

    @AfterEach
    void close() {
        memory.close();
        registry.close();
    }

    private double gauge(String name) {
        return registry.get("bulla.pool." + name).tag("app", "trial").gauge().value();
    }

    private double counter(String name) {
        return registry.get("bulla.pool." + name)
                .tag("app", "trial")
                .functionCounter()
                .count();
    }

    @Test
    void poolsShowSlabsAndWhatIsInThem() {
        new PoolMetrics(memory, APP).bindTo(registry);
        assertEquals(0, gauge("booked"));
        Region small = memory.allocate(1000);
        memory.allocate(2 * SLAB).release();
        assertEquals(3 * SLAB, gauge("booked"));
        assertEquals(2 * SLAB, gauge("idle"));
        assertEquals(1, gauge("slabs"));
        assertEquals(1, gauge("magazines"));
        assertEquals("bytes", registry.get("bulla.pool.booked").gauge().getId().getBaseUnit());
        double cached = gauge("cached");
        small.release();
        assertEquals(cached + small.byteSize(), gauge("cached"));
        memory.trim();
        assertEquals(1, gauge("magazines"), "the caller keeps an empty one");
        for (String name : new String[] {"booked", "idle", "slabs", "cached", "live"}) {
            assertEquals(0, gauge(name), name);
        }
    }

    @Test
    void poolsShowHitsAndMisses() {
        new PoolMetrics(memory, APP).bindTo(registry);
        for (int i = 0; i < 10; i++) {
            memory.allocate(1000).release();
        }
        assertEquals(1, counter("missed"));
        assertEquals(9, counter("taken"));
        memory.trim();
        // what a revoked magazine has counted is not lost
        assertEquals(9, counter("taken"));
    }

    @Test
    void poolsShowWhatAViewTookOutOfUse() {
        new PoolMetrics(memory, APP).bindTo(registry);
        Region other = memory.allocate(1000);
        try (SealedBuffer message =
                BufferBuilder.ofCapacity(memory, 1000).putInt(1).seal()) {
            message.iovec().region(0);
            assertEquals(0, gauge("quarantined"));
        }
        assertEquals(other.byteSize(), gauge("quarantined"));
        other.release();
    }
}
