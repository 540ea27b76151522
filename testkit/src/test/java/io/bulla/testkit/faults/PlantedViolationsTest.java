// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.FaultReport;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.PoisoningSource;
import io.bulla.testkit.Promise;
import io.bulla.testkit.Violation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The checker itself: for each promise an operation that breaks it, and is found out.
class PlantedViolationsTest {

    // a planted lock is never given back: no patience is long enough
    private static final Duration SHORT = Duration.ofMillis(200);

    @Test
    void operationThatKeepsItsPromisesIsFoundClean() {
        FaultReport report = run(scene -> {
            SealedBuffer buffer = scene.buffer(300);
            return buffer::share;
        });
        assertEquals(List.of(), report.violations());
        assertEquals(1, report.operations());
        assertTrue(report.points() > 0 && report.failed() > report.points(), report.line());
        assertEquals(
                "faults: area=planted operations=1 points=" + report.points() + " failed=" + report.failed()
                        + " violations=0",
                report.line());
    }

    @Test
    void operationWithoutForeignCallsIsQuiet() {
        FaultReport report = run(scene -> () -> Math.max(1, 2));
        assertEquals(List.of("planted"), report.quiet());
    }

    @Test
    void operationThatFailsUntouchedIsRefused() {
        Operation wrong = scene -> () -> {
            throw new IllegalArgumentException("not ready");
        };
        assertEquals(
                "operation fails without a fault: operation=planted",
                assertThrows(IllegalStateException.class, () -> run(wrong)).getMessage());
    }

    @Test
    void writeToSealedBytesIsFound() {
        assertFound(Promise.IMMUTABLE, scene -> {
            MemorySegment memory = adopted(scene);
            return () -> {
                scene.points().reach("a foreign call");
                memory.set(ValueLayout.JAVA_BYTE, 3, (byte) 99);
                return null;
            };
        });
    }

    @Test
    void bytesThatAnotherThreadSeesOtherwiseAreFound() {
        assertOnly(Promise.PUBLISHED, scene -> {
            MemorySegment memory = adopted(scene);
            byte sealed = memory.get(ValueLayout.JAVA_BYTE, 3);
            return () -> {
                memory.set(ValueLayout.JAVA_BYTE, 3, (byte) 99);
                try {
                    scene.points().reach("a foreign call");
                } finally {
                    memory.set(ValueLayout.JAVA_BYTE, 3, sealed);
                }
                return null;
            };
        });
    }

    @Test
    void holderThatRobsAnotherIsFound() {
        assertFound(Promise.A_HANDLE_PER_HOLDER, scene -> {
            SealedBuffer buffer = scene.buffer(300);
            return () -> {
                scene.points().reach("a foreign call");
                rob(buffer);
                return null;
            };
        });
    }

    @Test
    void lockHeldAcrossAForeignCallIsFound() {
        Operation locking = scene -> {
            Locked lock = new Locked();
            byte[] content = FaultScene.bytes(64, 1);
            SealedBuffer buffer = BufferBuilder.create(new Traced(new PoisoningSource(null), lock))
                    .put(content)
                    .seal();
            scene.watch(buffer, content);
            return () -> {
                synchronized (lock) {
                    scene.points().reach("a foreign call");
                }
                return null;
            };
        };
        FaultReport report = new FaultRun("planted")
                .on(Memory.ARENA)
                .patience(SHORT)
                .operation("planted", locking)
                .report();
        assertTrue(report.violations().stream().anyMatch(one -> one.promise() == Promise.LOCK_FREE), report::toString);
    }

    @Test
    void lostHandleIsFound() {
        assertOnly(Promise.ACCOUNTABLE, scene -> {
            SealedBuffer buffer = scene.buffer(300);
            return () -> {
                SealedBuffer share = buffer.share();
                scene.points().reach("a foreign call");
                return share;
            };
        });
    }

    @Test
    void staleViewOfOtherBytesIsFound() {
        assertFound(Promise.USE_AFTER_CLOSE, scene -> {
            MemorySegment memory = Arena.ofAuto().allocate(64);
            byte[] content = new byte[64];
            scene.watch(SealedBuffer.adopt(memory, () -> memory.fill((byte) 1)), content);
            return () -> {
                scene.points().reach("a foreign call");
                return null;
            };
        });
    }

    @Test
    void copyIsFound() {
        assertFound(Promise.NO_COPY, scene -> {
            SealedBuffer buffer = scene.buffer(300);
            scene.noCopy();
            return () -> buffer.copy(scene.source());
        });
    }

    @Test
    void halfAWriteIsFound() {
        assertOnly(Promise.TRANSACTIONAL, scene -> {
            BufferBuilder builder = scene.builderWithRoom(100);
            return () -> {
                builder.putInt(1);
                scene.points().reach("a foreign call");
                builder.putInt(2);
                return null;
            };
        });
    }

    @Test
    void otherResultOfARepetitionIsFound() {
        assertOnly(Promise.TRANSACTIONAL, scene -> {
            int[] runs = {0};
            return () -> {
                runs[0]++;
                scene.points().reach("a foreign call");
                return runs[0];
            };
        });
    }

    /// Where a builder goes on in what it has sealed, say.
    @Test
    void writeToTheBufferThatAnOperationGaveIsFound() {
        assertFound(Promise.IMMUTABLE, scene -> {
            MemorySegment memory = Arena.ofAuto().allocate(64);
            return new FaultRun.Action() {
                @Override
                public SealedBuffer run() {
                    scene.points().reach("a foreign call");
                    return SealedBuffer.adopt(memory, () -> {});
                }

                @Override
                public void passed(@Nullable Object result) {
                    memory.fill((byte) 99);
                }
            };
        });
    }

    @Test
    void otherResultInAMapASetOrAByteBufferIsFound() {
        List<IntFunction<Object>> results = List.of(
                n -> Map.of("runs", n),
                n -> Set.of(n),
                n -> ByteBuffer.allocate(4).putInt(0, n));
        for (IntFunction<Object> result : results) {
            assertOnly(Promise.TRANSACTIONAL, scene -> {
                int[] runs = {0};
                return () -> {
                    runs[0]++;
                    scene.points().reach("a foreign call");
                    return result.apply(runs[0]);
                };
            });
        }
    }

    @Test
    void whatAnOperationFindsBrokenIsNotHiddenByWhatItsEndThrows() {
        assertOnly(Promise.TRANSACTIONAL, scene -> () -> {
            try {
                scene.points().reach("a foreign call");
            } catch (Throwable injected) {
                AssertionError found = new AssertionError("the channel stays open");
                found.addSuppressed(injected);
                throw found;
            }
            return null;
        });
    }

    @Test
    void resultOfNothingsIsAResult() {
        FaultReport report = run(scene -> () -> {
            scene.points().reach("a foreign call");
            return new String[] {"a", null};
        });
        assertEquals(List.of(), report.violations());
    }

    @Test
    void memoryTakenBeforeTheCheckIsFound() {
        assertOnly(Promise.CHECKED_BEFORE_TAKEN, scene -> {
            scene.mayTake(1 << 20);
            return () -> {
                byte[] taken = new byte[2 << 20];
                scene.points().reach("a foreign call");
                return taken.length;
            };
        });
    }

    /// As classes are, which a first run loads.
    @Test
    void memoryThatOnlyTheFirstRunTakesIsNone() {
        AtomicInteger runs = new AtomicInteger();
        FaultRun run = new FaultRun("planted").operation("loads at first", scene -> {
            scene.mayTake(1 << 20);
            return () -> {
                byte[] taken = new byte[runs.getAndIncrement() == 0 ? 2 << 20 : 1];
                scene.points().reach("a foreign call");
                return taken.length > 0;
            };
        });
        assertEquals(List.of(), run.report().violations());
        assertTrue(runs.get() > 2);
    }

    /// A builder of a kind that does not look again after it has asked: what the call backs are there to find.
    @Test
    void writeBehindASealOutOfTheCallIsFound() {
        assertCalledBack(Promise.IMMUTABLE, scene -> {
            BufferBuilder builder = scene.builderWithRoom(100);
            return () -> {
                MemorySegment memory = memoryOf(builder);
                scene.points().reach("a foreign call");
                memory.set(ValueLayout.JAVA_BYTE, 3, (byte) 99);
                return null;
            };
        });
    }

    @Test
    void memoryTakenBehindACloseOutOfTheCallIsFound() {
        assertCalledBack(Promise.ACCOUNTABLE, scene -> {
            BufferBuilder builder = scene.builder(16);
            return () -> {
                MemorySource.Region fresh = scene.source().allocate(64);
                if (builder.toString().contains("abandoned")) {
                    return "lost";
                }
                fresh.release();
                return "given back";
            };
        });
    }

    @Test
    void failureOfAnotherKindBehindACallBackIsFound() {
        assertCalledBack(Promise.TRANSACTIONAL, scene -> {
            SealedBuffer buffer = scene.buffer(300);
            return () -> {
                scene.points().reach("a foreign call");
                if (!buffer.isOpen()) {
                    throw new NullPointerException("nothing is left");
                }
                return null;
            };
        });
    }

    @Test
    void callBackOfTheOperationsOwnThatFailsInItsOwnWayIsFound() {
        assertCalledBack(Promise.TRANSACTIONAL, scene -> {
            boolean[] busy = new boolean[1];
            scene.callBack("again", () -> {
                if (busy[0]) {
                    throw new ArrayIndexOutOfBoundsException("half done");
                }
            });
            return () -> {
                busy[0] = true;
                scene.points().reach("a foreign call");
                busy[0] = false;
                return null;
            };
        });
    }

    @Test
    void builderOfASourceThatIsClosedMeanwhileIsFoundClean() {
        FaultReport report = new FaultRun("planted")
                .callingBack()
                .operation("planted", scene -> {
                    BufferBuilder builder = scene.builder(16);
                    return () -> builder.putLong(1).byteSize();
                })
                .report();
        assertEquals(List.of(), report.violations());
        // three memories, two points or more, an exception and an error twice, a stall and four call backs
        assertTrue(report.failed() >= 9 * report.points(), report.line());
    }

    /// Found by a call back, and by nothing else.
    private static void assertCalledBack(Promise promise, Operation operation) {
        assertEquals(List.of(), run(operation).violations());
        List<Violation> found = new FaultRun("planted")
                .on(Memory.ARENA)
                .callingBack()
                .operation("planted", operation)
                .report()
                .violations();
        assertTrue(found.stream().anyMatch(one -> one.promise() == promise), found::toString);
        assertTrue(found.stream().allMatch(one -> one.step().contains("kind=CALL_BACK")), found::toString);
    }

    private static MemorySegment memoryOf(BufferBuilder builder) throws ReflectiveOperationException {
        Field memory = BufferBuilder.class.getSuperclass().getDeclaredField("memory");
        memory.setAccessible(true);
        return (MemorySegment) memory.get(builder);
    }

    private static FaultReport run(Operation operation) {
        return new FaultRun("planted")
                .on(Memory.ARENA)
                .operation("planted", operation)
                .report();
    }

    private static Set<Promise> broken(Operation operation) {
        FaultReport report = run(operation);
        assertThrows(AssertionError.class, report::check);
        return report.violations().stream().map(one -> one.promise()).collect(Collectors.toSet());
    }

    private static void assertFound(Promise promise, Operation operation) {
        Set<Promise> broken = broken(operation);
        assertTrue(broken.contains(promise), broken::toString);
    }

    private static void assertOnly(Promise promise, Operation operation) {
        assertEquals(Set.of(promise), broken(operation));
    }

    private static MemorySegment adopted(FaultScene scene) {
        MemorySegment memory = Arena.ofAuto().allocate(64);
        scene.watch(SealedBuffer.adopt(memory, () -> {}), new byte[64]);
        return memory;
    }

    private static void rob(SealedBuffer buffer) throws ReflectiveOperationException {
        Method count = Lease.class.getDeclaredMethod("count");
        Method release = RefCount.class.getDeclaredMethod("release");
        count.setAccessible(true);
        release.setAccessible(true);
        release.invoke(count.invoke(buffer));
    }

    /// A listener that takes a lock.
    private static final class Locked implements LeaseTrace {

        @Override
        public synchronized Object opened(Lease lease, RefCount count, Object tag) {
            return this;
        }

        @Override
        public synchronized void closed(Lease lease, Object traced) {}
    }

    private record Traced(MemorySource source, LeaseTrace trace) implements MemorySource {

        @Override
        public Region allocate(long byteSize) {
            return source.allocate(byteSize);
        }
    }
}
