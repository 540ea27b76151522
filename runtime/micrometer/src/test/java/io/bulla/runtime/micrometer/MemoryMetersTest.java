// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryMetersTest {

    private static final Tag APP = Tag.of("app", "trial");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @AfterEach
    void close() {
        registry.close();
    }

    private double gauge(String name) {
        return registry.get(name).tag("app", "trial").gauge().value();
    }

    private double counter(String name) {
        return registry.get(name).tag("app", "trial").functionCounter().count();
    }

    @Test
    void budgetsShowWhatIsBooked() {
        MemoryBudget budget = new MemoryBudget(1000);
        new BudgetMetrics(budget, APP).bindTo(registry);
        budget.take(300);
        budget.take(400);
        budget.give(300);
        assertEquals(400, gauge("bulla.budget.used"));
        assertEquals(1000, gauge("bulla.budget.limit"));
        assertEquals(700, gauge("bulla.budget.peak"));
        assertEquals(700, counter("bulla.budget.taken"));
        assertEquals("bytes", registry.get("bulla.budget.used").gauge().getId().getBaseUnit());
    }

    @Test
    void sourcesShowTheirChunks() {
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null)) {
            new SourceMetrics(source, APP).bindTo(registry);
            assertEquals(0, gauge("bulla.source.chunks"));
            try (SealedBuffer buffer =
                    BufferBuilder.create(source).put((byte) 1).seal()) {
                assertEquals(1, gauge("bulla.source.chunks"));
                assertEquals(1, buffer.holders());
            }
            assertEquals(0, counter("bulla.source.late.writes"));
            assertEquals(source.trims(), counter("bulla.source.trims"));
        }
    }

    @Test
    void talliesShowHandles() {
        LeaseTally tally = new LeaseTally();
        HandleMetrics.of(tally, APP).bindTo(registry);
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), tally)) {
            SealedBuffer buffer = BufferBuilder.create(source).put((byte) 1).seal();
            SealedBuffer other = buffer.share();
            assertEquals(2, gauge("bulla.handles.open"));
            buffer.close();
            assertEquals(1, gauge("bulla.handles.open"));
            assertEquals(2, counter("bulla.handles.opened"));
            other.close();
        }
        assertEquals(0, gauge("bulla.handles.open"));
    }

    @Test
    void ledgersShowHandlesAndHowOldTheyAre() {
        LeaseLedger ledger = LeaseLedger.full();
        HandleMetrics.of(ledger, APP).bindTo(registry);
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), ledger)) {
            SealedBuffer buffer = BufferBuilder.create(source).put((byte) 1).seal("me");
            assertEquals(1, gauge("bulla.handles.open"));
            long before = ledger.oldest().orElseThrow().age().toNanos();
            double shown = registry.get("bulla.handles.oldest").timeGauge().value(TimeUnit.NANOSECONDS);
            long after = ledger.oldest().orElseThrow().age().toNanos();
            assertTrue(before <= shown && shown <= after, () -> before + " <= " + shown + " <= " + after);
            buffer.close();
        }
        assertEquals(0, gauge("bulla.handles.open"));
        assertEquals(0, gauge("bulla.handles.oldest"));
        assertEquals(0, counter("bulla.handles.healed"));
    }
}
