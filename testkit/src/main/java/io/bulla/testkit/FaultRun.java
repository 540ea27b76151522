// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.testkit.FaultPoints.Kind;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.FaultStep.Fault;
import io.bulla.testkit.FaultStep.Then;
import io.bulla.testkit.internal.Ballast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Runs operations again and again while the first, the second, the n-th foreign call fails, until they pass
/// untouched; and looks at all nine promises of Bulla after each step.
///
/// ```java
/// FaultRun run = new FaultRun("transport");
/// run.operation("send", scene -> {
///     SealedBuffer message = scene.buffer(300);
///     return () -> transport.send(message.share());
/// });
/// run.report().print().check();
/// ```
///
/// Every step has a [FaultScene] of its own, on each [Memory]; a call fails by an exception, by an error, or by
/// stalling while other threads go on ([Kind]), or after [#callingBack()] by a call back into what asks. After a
/// failure the step is run twice: once to look at what it left, once to repeat the operation without a fault,
/// which has to give what it gives untouched, or to say that something is over.
public final class FaultRun {

    private static final int MOST_POINTS = 10_000;
    // as a power of two, in bytes
    private static final int LARGEST_ROOM = 13;

    /// Makes ready, and says what to run while a call fails. May be called any number of times.
    @FunctionalInterface
    public interface Operation {
        /// No call fails yet.
        ///
        /// @param scene of this step alone
        /// @return run once, or twice to repeat it
        /// @throws Exception if the operation cannot be run
        Action prepare(FaultScene scene) throws Exception;
    }

    /// An operation that runs while a call fails.
    @FunctionalInterface
    public interface Action {
        /// Runs the operation.
        ///
        /// @return its result, closed by the scene if it can be; `null` if it has none
        /// @throws Exception as the operation does
        @Nullable
        Object run() throws Exception;

        /// The operation passed: what has to be done with what it made, no call failing any more.
        ///
        /// @param result what [#run()] returned
        default void passed(@Nullable Object result) {}
    }

    private final String area;
    private final List<Violation> violations = new ArrayList<>();
    private final List<String> quiet = new ArrayList<>();
    private List<Memory> memories = List.of(Memory.values());
    private Duration patience = Duration.ofSeconds(30);
    private int operations;
    private long points;
    private long failed;
    private boolean callingBack;
    // by the last step that nothing failed in
    private long reached;
    private int callBacks;

    /// A run of nothing yet.
    ///
    /// @param area names the report
    public FaultRun(String area) {
        this.area = area;
    }

    /// Runs on these only.
    ///
    /// @param memories at least one; all of them unless set
    /// @return this
    public FaultRun on(Memory... memories) {
        this.memories = List.of(memories);
        return this;
    }

    /// Sets how long other threads may take while one stalls.
    ///
    /// @param patience 30 s unless set: a promise that is kept needs microseconds of it
    /// @return this
    public FaultRun patience(Duration patience) {
        this.patience = patience;
        return this;
    }

    /// Lets each foreign call call back too: it writes to the scene's builders, seals or closes them, closes its
    /// handles, closes its source, or does what the operation says by [FaultScene#callBack].
    ///
    /// What is called back, and what asked, may say that something is over. The promises have to hold all the same.
    ///
    /// @return this
    public FaultRun callingBack() {
        callingBack = true;
        return this;
    }

    /// Runs an operation through all its faults.
    ///
    /// @param name for the report
    /// @param operation makes a step ready
    /// @return this
    /// @throws IllegalStateException if the operation fails without a fault; one that is refused by an
    ///     [UnsupportedOperationException] did what it should
    public FaultRun operation(String name, Operation operation) {
        return operation(name, List.of(operation));
    }

    /// Runs an operation in several ways, which count as one.
    ///
    /// @param name for the report
    /// @param ways each makes a step ready
    /// @return this
    /// @throws IllegalStateException as [#operation(String, Operation)]
    public FaultRun operation(String name, List<Operation> ways) {
        long found = 0;
        for (Operation operation : ways) {
            for (Memory memory : memories) {
                found += onMemory(name, operation, memory);
            }
        }
        operations++;
        points += found;
        if (found == 0) {
            quiet.add(name);
        }
        return this;
    }

    /// Runs an operation in several ways, once each, while nothing fails. How much heap it takes is not looked at.
    ///
    /// @throws IllegalStateException if it fails
    void untouched(String name, List<Operation> ways) {
        for (Operation operation : ways) {
            for (Memory memory : memories) {
                newStep(name, operation, memory, Fault.NONE, Then.LOOK).untouchedAtFirst();
            }
        }
        operations++;
    }

    /// The findings so far.
    ///
    /// @return a snapshot
    public FaultReport report() {
        return new FaultReport(area, operations, points, failed, List.copyOf(quiet), List.copyOf(violations));
    }

    /// Runs an operation in one of several ways while the heap is filled to the brim, or to a few bytes or kilobytes
    /// below it: before the operation, or in the middle of a foreign call. The report counts those in which the
    /// operation had not enough heap.
    ///
    /// For a JVM of its own and of 16 to 64 MiB, for every thread of it is short of memory then.
    ///
    /// @param name for the report
    /// @param ways each makes a step ready
    /// @param seed chooses the way, memory, point and room; the same one chooses the same
    /// @return this
    /// @throws IllegalStateException as [#operation(String, Operation)]
    public FaultRun onFullHeap(String name, List<Operation> ways, long seed) {
        SplittableRandom random = new SplittableRandom(seed ^ name.hashCode());
        Operation operation = ways.get(random.nextInt(ways.size()));
        Memory memory = memories.get(random.nextInt(memories.size()));
        Predicate<String> isAsUntouched = asUntouched(name, operation, memory);
        Ballast ballast = new Ballast(random.nextInt(1 << random.nextInt(LARGEST_ROOM)));
        Fault fault = new Fault(Kind.STALL, random.nextLong(reached + 1), ballast);
        Then then = random.nextBoolean() ? Then.LOOK : Then.REPEAT;
        step(name, operation, memory, fault, then, isAsUntouched);
        points += reached + 1;
        operations++;
        return this;
    }

    private long onMemory(String name, Operation operation, Memory memory) {
        Predicate<String> isAsUntouched = asUntouched(name, operation, memory);
        long found = 0;
        for (Kind kind : List.of(Kind.EXCEPTION, Kind.ERROR, Kind.STALL)) {
            long n = 1;
            while (n < MOST_POINTS
                    && step(name, operation, memory, new Fault(kind, n, null), Then.LOOK, isAsUntouched)) {
                if (kind != Kind.STALL) {
                    step(name, operation, memory, new Fault(kind, n, null), Then.REPEAT, isAsUntouched);
                }
                n++;
            }
            found = n - 1;
        }
        for (int back = 0; callingBack && back < callBacks; back++) {
            long n = 1;
            while (n < MOST_POINTS
                    && step(
                            name,
                            operation,
                            memory,
                            new Fault(Kind.CALL_BACK, n, null, back),
                            Then.LOOK,
                            isAsUntouched)) {
                n++;
            }
        }
        return found;
    }

    /// Twice, for a result that differs from run to run cannot be compared; the first one loads classes.
    private Predicate<String> asUntouched(String name, Operation operation, Memory memory) {
        String first = newStep(name, operation, memory, Fault.NONE, Then.LOOK).untouchedAtFirst();
        FaultStep again = newStep(name, operation, memory, Fault.NONE, Then.LOOK);
        String second = again.untouched();
        reached = again.reached();
        callBacks = again.callBacks();
        return result -> !second.equals(first) || second.equals(result);
    }

    private boolean step(
            String name, Operation operation, Memory memory, Fault fault, Then then, Predicate<String> isAsUntouched) {
        FaultStep step = newStep(name, operation, memory, fault, then);
        step.faulty(isAsUntouched);
        if (step.failed()) {
            failed++;
        }
        return step.failed();
    }

    private FaultStep newStep(String name, Operation operation, Memory memory, Fault fault, Then then) {
        return new FaultStep(name, operation, memory, fault, then, patience, violations);
    }
}
