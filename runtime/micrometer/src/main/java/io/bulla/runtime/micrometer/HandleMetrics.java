// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Open handles: a gauge that only rises is a leak.
///
/// | meter | kind | from | what |
/// |---|---|---|---|
/// | `bulla.handles.open` | gauge | both | handles that are open now; those in the sample, if the ledger samples |
/// | `bulla.handles.opened` | counter | tally | handles ever opened |
/// | `bulla.handles.oldest` | gauge, time | ledger | how long the oldest open handle has been open, 0 without one |
/// | `bulla.handles.healed` | counter | ledger | handles that were collected unclosed, and healed |
public final class HandleMetrics implements MeterBinder {

    private final Consumer<MeterRegistry> bind;

    private HandleMetrics(Consumer<MeterRegistry> bind) {
        this.bind = bind;
    }

    /// Of a tally: two counters, cheap enough for any service.
    ///
    /// @param tally that a source has as its trace
    /// @param tags of each meter
    /// @return what binds the meters
    public static HandleMetrics of(LeaseTally tally, Tag... tags) {
        Objects.requireNonNull(tally, "tally");
        List<Tag> own = List.of(tags);
        return new HandleMetrics(registry -> bind(tally, own, registry));
    }

    /// Of a ledger. Its gauge of open handles walks through all of them at each scrape.
    ///
    /// @param ledger that a source has as its trace
    /// @param tags of each meter
    /// @return what binds the meters
    public static HandleMetrics of(LeaseLedger ledger, Tag... tags) {
        Objects.requireNonNull(ledger, "ledger");
        List<Tag> own = List.of(tags);
        return new HandleMetrics(registry -> bind(ledger, own, registry));
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        bind.accept(registry);
    }

    private static void bind(LeaseTally tally, List<Tag> tags, MeterRegistry registry) {
        Gauge.builder("bulla.handles.open", tally, LeaseTally::open)
                .description("handles that are open now")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.handles.opened", tally, LeaseTally::totalOpened)
                .description("handles ever opened")
                .tags(tags)
                .register(registry);
    }

    private static void bind(LeaseLedger ledger, List<Tag> tags, MeterRegistry registry) {
        Gauge.builder("bulla.handles.open", ledger, all -> all.open().size())
                .description("handles that are open now")
                .tags(tags)
                .register(registry);
        TimeGauge.builder("bulla.handles.oldest", ledger, TimeUnit.NANOSECONDS, HandleMetrics::oldest)
                .description("how long the oldest open handle has been open")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.handles.healed", ledger, LeaseLedger::healed)
                .description("handles that were collected unclosed, and healed")
                .tags(tags)
                .register(registry);
    }

    private static double oldest(LeaseLedger ledger) {
        return ledger.oldest().map(holder -> (double) holder.age().toNanos()).orElse(0.0);
    }
}
