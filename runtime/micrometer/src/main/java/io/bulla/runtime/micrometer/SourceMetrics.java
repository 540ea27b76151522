// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.buffer.ArenaSource;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Objects;

/// The chunks of an [ArenaSource].
///
/// | meter | kind | what |
/// |---|---|---|
/// | `bulla.source.chunks` | gauge | chunks whose memory is not given back yet |
/// | `bulla.source.trims` | counter | times that free memory was given back to the system |
/// | `bulla.source.late.writes` | counter | regions that were written to after their end, with `Safety.CHECKED` |
public final class SourceMetrics implements MeterBinder {

    private final ArenaSource source;
    private final List<Tag> tags;

    /// Of one source.
    ///
    /// @param source closed or not
    /// @param tags of each meter; they tell sources apart
    public SourceMetrics(ArenaSource source, Tag... tags) {
        this.source = Objects.requireNonNull(source, "source");
        this.tags = List.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("bulla.source.chunks", source, ArenaSource::openChunks)
                .description("chunks whose memory is not given back yet")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.source.trims", source, ArenaSource::trims)
                .description("times that free memory was given back to the system")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("bulla.source.late.writes", source, ArenaSource::lateWrites)
                .description("regions that were written to after they were given back")
                .tags(tags)
                .register(registry);
    }
}
