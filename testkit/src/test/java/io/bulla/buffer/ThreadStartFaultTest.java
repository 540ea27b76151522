// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.FaultScene.Memory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What needs the thread of a source, while that cannot start: at the first memory, at a trim, and where it is gone.
class ThreadStartFaultTest {

    private static final int LIMIT = 8 << 20;
    private static final int ALONE = 5 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void everyOperationKeepsItsPromisesWhileNoThreadStarts() {
        FaultRun run = new FaultRun("threads").on(Memory.ARENA);
        run.operation(
                "ArenaSource.allocate, the first one", List.of(first(100, Safety.FAST), first(100, Safety.CHECKED)));
        run.operation(
                "ArenaSource.allocate, a region alone",
                List.of(first(ALONE, Safety.FAST), first(ALONE, Safety.CHECKED)));
        run.operation("ArenaSource.trim()", ThreadStartFaultTest::trim);
        run.operation("ArenaSource.allocate, the budget full, the thread gone", goneThread(Source::again));
        run.operation("ArenaSource.close(Duration), the thread gone", goneThread(Source::end));
        FaultReport report = run.report().print();
        if (report.failed() < 3 * report.points()) {
            throw new AssertionError("points that did not fail: " + report.line());
        }
        report.check();
    }

    /// A source, how often its thread was to be started, and whether that is lost.
    private static final class Source implements AutoCloseable {

        private final MemoryBudget budget = new MemoryBudget(LIMIT);
        private final FaultPoints points;
        private final ArenaSource memory;
        private boolean lost;

        Source(FaultScene scene, Safety safety) {
            this.points = scene.points();
            this.memory = ArenaSource.builder()
                    .budget(budget)
                    .safety(safety)
                    .starter(this::start)
                    .build();
            scene.mayTake(2L * LIMIT);
            scene.own(this);
        }

        private void start(Thread thread) {
            if (!lost) {
                points.reach("Thread.start");
                thread.start();
            }
        }

        Object use(int bytes) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, bytes);
                    SealedBuffer sealed = builder.putInt(7).seal()) {
                return sealed.iovec().getInt(0);
            }
        }

        Object again() {
            return notTheCallers(() -> use(ALONE));
        }

        Object end() {
            return notTheCallers(() -> {
                close();
                return budget.used();
            });
        }

        /// The caller has what it asked for without the thread.
        private Object notTheCallers(Action action) {
            try {
                return action.run();
            } catch (Throwable failure) {
                throw new AssertionError("the caller gets the failure of the thread's start: " + failure);
            }
        }

        @Override
        public void close() {
            try {
                memory.close(PATIENCE);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            expect(budget.used() == 0, "kept: " + memory);
        }
    }

    private static Operation first(int bytes, Safety safety) {
        return scene -> {
            Source source = new Source(scene, safety);
            return () -> {
                try {
                    return source.use(bytes);
                } catch (Throwable failure) {
                    expect(
                            source.budget.used() == 0 && source.memory.openChunks() == 0,
                            "refused, and kept: " + source.memory);
                    throw failure;
                }
            };
        };
    }

    private static Action trim(FaultScene scene) {
        Source source = new Source(scene, Safety.FAST);
        return () -> {
            source.memory.trim();
            return source.use(100);
        };
    }

    @FunctionalInterface
    private interface Use {
        Object on(Source source);
    }

    /// Memory was given back, and no thread is there to close it.
    private static Operation goneThread(Use use) {
        return scene -> {
            Source source = new Source(scene, Safety.FAST);
            source.lost = true;
            source.use(ALONE);
            source.lost = false;
            expect(source.budget.used() > 0, "closed without a thread");
            return () -> use.on(source);
        };
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
