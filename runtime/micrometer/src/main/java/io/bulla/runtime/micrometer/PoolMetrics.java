// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.pool.PoolFigures;
import io.bulla.pool.SlabSource;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// The slabs of a [SlabSource], and what is in them.
///
/// | meter | kind | what |
/// |---|---|---|
/// | `bulla.pool.taken` | counter | regions that threads took from what they had at hand |
/// | `bulla.pool.missed` | counter | times that a thread had none at hand |
/// | `bulla.pool.slabs` | gauge | slabs of which something is carved |
/// | `bulla.pool.magazines` | gauge | threads that have something at hand, or had |
/// | `bulla.pool.booked` | gauge, bytes | taken from the machine, empty slabs included |
/// | `bulla.pool.idle` | gauge, bytes | empty slabs |
/// | `bulla.pool.cached` | gauge, bytes | free, at hand of threads |
/// | `bulla.pool.live` | gauge, bytes | in use, or free between the threads |
/// | `bulla.pool.quarantined` | gauge, bytes | not used again, since a raw view was given out |
///
/// Each is as exact as its namesake of [PoolFigures], which is taken under the source's lock, once for each meter.
/// With reuse switched off all are 0.
public final class PoolMetrics implements MeterBinder {

    private final SlabSource source;
    private final List<Tag> tags;

    /// Of one source.
    ///
    /// @param source closed or not
    /// @param tags of each meter; they tell sources apart
    public PoolMetrics(SlabSource source, Tag... tags) {
        this.source = Objects.requireNonNull(source, "source");
        this.tags = List.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        counter(registry, "taken", "regions that threads took from what they had at hand", PoolFigures::taken);
        counter(registry, "missed", "times that a thread had none at hand", PoolFigures::missed);
        gauge(registry, "slabs", null, "slabs of which something is carved", PoolFigures::slabs);
        gauge(registry, "magazines", null, "threads that have something at hand, or had", PoolFigures::magazines);
        bytes(registry, "booked", "taken from the machine, empty slabs included", PoolFigures::bookedBytes);
        bytes(registry, "idle", "empty slabs", PoolFigures::idleBytes);
        bytes(registry, "cached", "free, at hand of threads", PoolFigures::cachedBytes);
        bytes(registry, "live", "in use, or free between the threads", PoolFigures::liveBytes);
        bytes(registry, "quarantined", "not used again after a raw view", PoolFigures::quarantinedBytes);
    }

    private void counter(MeterRegistry registry, String name, String what, ToDoubleFunction<PoolFigures> figure) {
        FunctionCounter.builder("bulla.pool." + name, source, pool -> figure.applyAsDouble(pool.figures()))
                .description(what)
                .tags(tags)
                .register(registry);
    }

    private void bytes(MeterRegistry registry, String name, String what, ToDoubleFunction<PoolFigures> figure) {
        gauge(registry, name, BaseUnits.BYTES, what, figure);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            @Nullable String unit,
            String what,
            ToDoubleFunction<PoolFigures> figure) {
        Gauge.builder("bulla.pool." + name, source, pool -> figure.applyAsDouble(pool.figures()))
                .description(what)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }
}
