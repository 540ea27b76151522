// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.pool.SlabSource;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.OobNode;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/// How the operations of `runtime/micrometer` are called: with a registry, its clock and tags that may fail or call
/// back.
final class MetricsCalls {

    private final OobNode node;
    private final Map<Class<?>, Function<FaultScene, Object>> values = new HashMap<>();

    private MetricsCalls(OobNode node) {
        this.node = node;
        values.put(int.class, scene -> 1);
        values.put(Tag[].class, scene -> new Tag[] {new FaultyTag(scene.points())});
        values.put(MemoryBudget.class, scene -> new MemoryBudget(1 << 20));
        values.put(LeaseLedger.class, scene -> LeaseLedger.full());
        values.put(LeaseTally.class, scene -> new LeaseTally());
        values.put(OobNode.class, scene -> node);
        values.put(ArenaSource.class, scene -> scene.own(ArenaSource.create()));
        values.put(SlabSource.class, MetricsCalls::pool);
    }

    /// @param node that is there in every step
    static FaultCatalogue all(OobNode node) {
        return new MetricsCalls(node).catalogue();
    }

    private FaultCatalogue catalogue() {
        FaultCatalogue all = new FaultCatalogue("micrometer", OobMetrics.class).values(values::get);
        binds(all, "BudgetMetrics", 4, scene -> new BudgetMetrics(new MemoryBudget(1 << 20), tag(scene)));
        binds(all, "HandleMetrics", 2, scene -> HandleMetrics.of(new LeaseTally(), tag(scene)));
        binds(all, "HandleMetrics", 3, scene -> HandleMetrics.of(LeaseLedger.full(), tag(scene)));
        binds(all, "SourceMetrics", 3, scene -> new SourceMetrics(scene.own(ArenaSource.create()), tag(scene)));
        binds(all, "PoolMetrics", 9, scene -> new PoolMetrics(pool(scene), tag(scene)));
        binds(all, "OobMetrics", 20, scene -> OobMetrics.of(node, tag(scene)));
        binds(all, "OobMetrics", 16, scene -> OobMetrics.ofPeer(node, 1, tag(scene)));
        return all;
    }

    private static SlabSource pool(FaultScene scene) {
        return scene.own(SlabSource.builder().budget(new MemoryBudget(1 << 20)).build());
    }

    private static Tag tag(FaultScene scene) {
        return new FaultyTag(scene.points());
    }

    /// A bind that failed may be repeated: what is there then is what one bind makes, and can be read.
    private static void binds(FaultCatalogue all, String type, int meters, Function<FaultScene, MeterBinder> binder) {
        all.on(type + ".bindTo(MeterRegistry)", scene -> {
            FaultyRegistry registry = new FaultyRegistry(scene.points());
            MeterBinder bound = binder.apply(scene);
            scene.own((AutoCloseable) registry::close);
            scene.callBack("registry.clear", registry::clear);
            scene.callBack("registry.read", registry::read);
            scene.callBack("binder.bindTo", () -> bound.bindTo(new SimpleMeterRegistry()));
            return FaultCall.on(bound, registry).then(nothing -> {
                int found = registry.read();
                // what was cleared meanwhile is gone
                if (found != meters && !"registry.clear".equals(registry.said)) {
                    throw new AssertionError("meters: wanted=" + meters + " found=" + found);
                }
            });
        });
    }

    private record FaultyTag(FaultPoints points) implements Tag {

        @Override
        public String getKey() {
            points.reach("Tag.getKey");
            return "key";
        }

        @Override
        public String getValue() {
            points.reach("Tag.getValue");
            return "value";
        }
    }

    private record FaultyClock(FaultPoints points, Clock clock) implements Clock {

        @Override
        public long wallTime() {
            points.reach("Clock.wallTime");
            return clock.wallTime();
        }

        @Override
        public long monotonicTime() {
            points.reach("Clock.monotonicTime");
            return clock.monotonicTime();
        }
    }

    /// Fails before it takes a meter, and after.
    private static final class FaultyRegistry extends SimpleMeterRegistry {

        private final FaultPoints points;
        private String said = "";

        FaultyRegistry(FaultPoints points) {
            super(SimpleConfig.DEFAULT, new FaultyClock(points, new MockClock()));
            this.points = points;
            config().onMeterAdded(added -> points.reach("MeterRegistry.onMeterAdded"));
        }

        @Override
        public void clear() {
            said = "registry.clear";
            super.clear();
        }

        /// @return how many there are, each of which can be read
        int read() {
            getMeters().forEach(meter -> meter.measure().forEach(one -> one.getValue()));
            return getMeters().size();
        }

        @Override
        protected <T> Gauge newGauge(Meter.Id id, T of, ToDoubleFunction<T> value) {
            points.reach("MeterRegistry.newGauge");
            return super.newGauge(id, of, value);
        }

        @Override
        protected <T> TimeGauge newTimeGauge(Meter.Id id, T of, TimeUnit unit, ToDoubleFunction<T> value) {
            points.reach("MeterRegistry.newTimeGauge");
            return super.newTimeGauge(id, of, unit, value);
        }

        @Override
        protected <T> FunctionCounter newFunctionCounter(Meter.Id id, T of, ToDoubleFunction<T> value) {
            points.reach("MeterRegistry.newFunctionCounter");
            return super.newFunctionCounter(id, of, value);
        }
    }
}
