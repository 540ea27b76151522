// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.buffer.MemoryBudget;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Objects;

/// Meters of a [MemoryBudget]: booked bytes and their limit.
///
/// | meter | kind | what |
/// |---|---|---|
/// | `bulla.budget.used` | gauge, bytes | booked now |
/// | `bulla.budget.limit` | gauge, bytes | the limit |
/// | `bulla.budget.peak` | gauge, bytes | the most at one time |
/// | `bulla.budget.taken` | counter, bytes | all ever booked |
public final class BudgetMetrics implements MeterBinder {

    private final MemoryBudget budget;
    private final List<Tag> tags;

    /// Of one budget.
    ///
    /// @param budget for instance [MemoryBudget#ofProcess()]
    /// @param tags of each meter; they tell budgets apart
    public BudgetMetrics(MemoryBudget budget, Tag... tags) {
        this.budget = Objects.requireNonNull(budget, "budget");
        this.tags = List.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("bulla.budget.used", budget, MemoryBudget::used)
                .description("bytes that are booked now")
                .baseUnit(BaseUnits.BYTES)
                .tags(tags)
                .register(registry);
        Gauge.builder("bulla.budget.limit", budget, MemoryBudget::limit)
                .description("bytes that may be booked at one time")
                .baseUnit(BaseUnits.BYTES)
                .tags(tags)
                .register(registry);
        Gauge.builder("bulla.budget.peak", budget, MemoryBudget::peak)
                .description("the most bytes that were booked at one time")
                .baseUnit(BaseUnits.BYTES)
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.budget.taken", budget, MemoryBudget::total)
                .description("bytes ever booked, given back or not")
                .baseUnit(BaseUnits.BYTES)
                .tags(tags)
                .register(registry);
    }
}
