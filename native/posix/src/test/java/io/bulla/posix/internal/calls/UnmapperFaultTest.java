// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene.Memory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// What is handed to the thread that unmaps, while that cannot start, and while what it frees fails.
class UnmapperFaultTest {

    private static final int MANY = 3;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    @Test
    void everyOperationKeepsItsPromisesWhileNoThreadStarts() {
        FaultRun run = new FaultRun("threads-posix").on(Memory.ARENA);
        run.operation("Unmapper.later", with(unmapper -> "handed over"));
        run.operation("Unmapper.freeAll", with(unmapper -> {
            unmapper.freeAll();
            return "freed";
        }));
        run.operation("Unmapper.awaitFreed", with(unmapper -> {
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            while (unmapper.awaitFreed(deadline)) {
                Thread.onSpinWait();
            }
            return "awaited";
        }));
        FaultReport report = run.report().print();
        report.check();
    }

    private static final class One extends Unmapper.Freeable {

        private final FaultPoints points;
        private final AtomicInteger freed;

        One(FaultPoints points, AtomicInteger freed) {
            this.points = points;
            this.freed = freed;
        }

        @Override
        public void free() {
            points.reach("Freeable.free");
            freed.incrementAndGet();
        }
    }

    /// Nothing of it is the caller's failure, and all is freed once.
    private static Operation with(Function<Unmapper, Object> use) {
        return scene -> {
            FaultPoints points = scene.points();
            points.everyThread();
            return () -> {
                AtomicInteger freed = new AtomicInteger();
                Unmapper unmapper = new Unmapper("test-unmapper", thread -> {
                    points.reach("Thread.start");
                    thread.start();
                });
                Object result;
                try {
                    for (int i = 0; i < MANY; i++) {
                        unmapper.later(new One(points, freed));
                    }
                    result = use.apply(unmapper);
                } catch (Throwable failure) {
                    throw new AssertionError("the caller gets what is the thread's: " + failure);
                }
                long end = System.nanoTime() + PATIENCE_NANOS;
                while (unmapper.waiting() > 0 && System.nanoTime() - end < 0) {
                    // what failed in the caller's hands is asked again when there is more to do
                    unmapper.freeAll();
                    Thread.sleep(1);
                }
                expect(unmapper.waiting() == 0 && freed.get() == MANY, "freed=" + freed + " of=" + MANY);
                return result;
            };
        };
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
