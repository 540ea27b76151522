// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.iovec.CopyTally;
import io.bulla.testkit.FaultPoints.Kind;
import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene.Memory;
import io.bulla.testkit.internal.Ballast;
import io.bulla.testkit.internal.Rendering;
import io.bulla.testkit.internal.ThreadHeap;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// One step of a [FaultRun]: an operation in a scene of its own, while one call fails or the heap is full; then a
/// look at the nine promises.
final class FaultStep {

    /// What is done after a failure, before the look.
    enum Then {
        LOOK,
        REPEAT
    }

    /// @param point which call, from 1; 0 for none, or with ballast for a heap that is full from the start
    /// @param ballast fills the heap in place of a failure, or `null`
    /// @param back what a call that calls back does: an index into what [CallBack] lists for the scene
    record Fault(Kind kind, long point, @Nullable Ballast ballast, int back) {

        static final Fault NONE = new Fault(Kind.EXCEPTION, 0, null);

        Fault(Kind kind, long point, @Nullable Ballast ballast) {
            this(kind, point, ballast, 0);
        }

        String toString(String calledBack) {
            if (ballast != null) {
                return "kind=FULL_HEAP free=" + ballast.free() + " point=" + point;
            }
            return "kind=" + kind + (kind == Kind.CALL_BACK ? " back=" + calledBack : "") + " point=" + point;
        }
    }

    private record Outcome(
            @Nullable Object result, @Nullable Throwable failure) {}

    private final String operation;
    private final Fault fault;
    private final Then then;
    private final FaultScene scene;
    private final List<Violation> violations;
    private final NinePromises promises;
    private final Action action;
    // false in the first run: what loads classes takes memory for them
    private boolean looksAtHeap = true;
    private Outcome outcome = new Outcome(null, null);
    private String seen = "";

    FaultStep(
            String name,
            Operation operation,
            Memory memory,
            Fault fault,
            Then then,
            Duration patience,
            List<Violation> violations) {
        this.operation = name;
        this.fault = fault;
        this.then = then;
        this.violations = violations;
        this.scene = new FaultScene(memory);
        this.promises = new NinePromises(scene, patience, this::violated);
        try {
            this.action = operation.prepare(scene);
        } catch (Exception failure) {
            throw new IllegalStateException("operation cannot be prepared: operation=" + name, failure);
        }
    }

    /// Nothing fails, and classes are loaded: how much heap that takes is not looked at.
    ///
    /// @return what the operation gives
    String untouchedAtFirst() {
        looksAtHeap = false;
        return untouched();
    }

    /// Nothing fails.
    ///
    /// @return what the operation gives
    String untouched() {
        run();
        if (outcome.failure() != null && !isRefused()) {
            throw new IllegalStateException(
                    "operation fails without a fault: operation=" + operation, outcome.failure());
        }
        promises.check(outcome.failure() == null);
        return seen;
    }

    /// @param isAsUntouched whether a result is that of the operation when nothing fails
    void faulty(Predicate<String> isAsUntouched) {
        run();
        if (fault.kind() == Kind.CALL_BACK && failed()) {
            checkCalledBack();
        } else if (outcome.failure() == null) {
            checkResult("it passed with another result: ", isAsUntouched);
            promises.check(true);
        } else {
            checkFailure();
            boolean repeated = then == Then.REPEAT && !scene.onlyOnce;
            if (repeated) {
                repeat(isAsUntouched);
            }
            promises.check(repeated);
        }
    }

    /// What was called back may have changed the result, or ended what the operation needs: that has to be said by
    /// name.
    private void checkCalledBack() {
        Throwable failure = outcome.failure();
        if (failure != null && !isRefused() && !isOver(failure)) {
            violated(Promise.TRANSACTIONAL, "the caller of what was called back gets another failure: " + failure);
        }
        promises.checkCalledBack(failure != null);
    }

    private void callBack() {
        CallBack.of(scene).get(fault.back()).run((what, step) -> {
            try {
                step.run();
            } catch (UnsupportedOperationException refused) {
                // as untouched
            } catch (Throwable failure) {
                if (!isOver(failure)) {
                    violated(
                            Promise.TRANSACTIONAL,
                            "called back, it fails in its own way: call=" + what + " " + failure);
                }
            }
        });
    }

    /// A limit, or that something is over.
    private static boolean isOver(Throwable failure) {
        return failure instanceof MemoryLimitException || NinePromises.isOver(failure);
    }

    /// Calls that were made.
    long reached() {
        return scene.points.reached();
    }

    /// How many things a call may call back.
    int callBacks() {
        return CallBack.of(scene).size();
    }

    /// Whether there was a call of that number, which failed; with ballast, whether the operation had not enough
    /// heap.
    boolean failed() {
        return fault.ballast() == null ? scene.points.failed() != null : isOutOfMemory(outcome.failure());
    }

    private void run() {
        CopyTally copies = CopyTally.snapshot();
        long requested = scene.source.requestedBytes();
        long heap = ThreadHeap.taken();
        @Nullable Object result = null;
        @Nullable Throwable failure = null;
        Ballast ballast = fault.ballast();
        scene.points.arm(fault.point(), fault.kind(), ballast == null ? inTheCall() : ballast::fill);
        try {
            if (ballast != null && fault.point() == 0) {
                ballast.fill();
            }
            result = action.run();
        } catch (Throwable thrown) {
            failure = thrown;
        } finally {
            // first of all, for nothing else can be done with a heap that is full
            if (ballast != null) {
                ballast.drop();
            }
            scene.points.disarm();
            scene.points.awaitCall();
        }
        outcome = new Outcome(result, failure);
        checkTaken(looksAtHeap ? ThreadHeap.taken() - heap : 0, scene.source.requestedBytes() - requested);
        long copied = CopyTally.snapshot().since(copies).bytes();
        if (scene.noCopy && copied > 0) {
            violated(Promise.NO_COPY, "bytes were copied: bytes=" + copied);
        }
        passed(result, failure);
    }

    private Runnable inTheCall() {
        return fault.kind() == Kind.CALL_BACK ? this::callBack : promises::othersGoOn;
    }

    private void passed(@Nullable Object result, @Nullable Throwable failure) {
        if (failure == null) {
            seen = Rendering.of(result);
            scene.own(result);
            scene.watchAll(result);
            action.passed(result);
        }
    }

    private void checkTaken(long heap, long requested) {
        // a stalled step's bystander has a heap of its own; ballast, and what is called back, are no operation's
        boolean isItsOwn = fault.kind() != Kind.STALL && fault.kind() != Kind.CALL_BACK && fault.ballast() == null;
        if (isItsOwn && Math.max(heap, requested) > scene.mayTake) {
            violated(
                    Promise.CHECKED_BEFORE_TAKEN,
                    "much was taken: heap=" + heap + " requested=" + requested + " may=" + scene.mayTake);
        }
    }

    private void checkFailure() {
        Throwable failure = outcome.failure();
        boolean isOurs = isInjected(failure) || fault.ballast() != null && isOutOfMemory(failure);
        if (!isOurs && !isRefused()) {
            violated(Promise.TRANSACTIONAL, "the caller gets another failure: " + failure);
        }
    }

    private void checkResult(String what, Predicate<String> isAsUntouched) {
        if (!scene.mayVary && !isAsUntouched.test(seen)) {
            violated(Promise.TRANSACTIONAL, what + seen);
        }
    }

    private void repeat(Predicate<String> isAsUntouched) {
        try {
            Object result = action.run();
            passed(result, null);
            checkResult("repeated, it gives another result: ", isAsUntouched);
        } catch (UnsupportedOperationException refused) {
            // as untouched
        } catch (Throwable failure) {
            if (!NinePromises.isByName(failure)) {
                violated(Promise.TRANSACTIONAL, "repeated, it fails: " + failure);
            }
        }
    }

    /// What the operation itself found broken stays so, though a failure of ours is suppressed in it.
    private static boolean isInjected(@Nullable Throwable failure) {
        boolean isFound = failure instanceof AssertionError && failure.getCause() == null;
        return !isFound && FaultPoints.isInjected(failure);
    }

    private boolean isRefused() {
        return outcome.failure() instanceof UnsupportedOperationException;
    }

    private static boolean isOutOfMemory(@Nullable Throwable failure) {
        for (@Nullable Throwable one = failure; one != null; one = one.getCause()) {
            if (one instanceof OutOfMemoryError) {
                return true;
            }
        }
        return false;
    }

    private void violated(Promise promise, String detail) {
        String calledBack = fault.kind() == Kind.CALL_BACK
                ? CallBack.of(scene).get(fault.back()).name()
                : "";
        String step = "memory=" + scene.memory + " " + fault.toString(calledBack) + " at=[" + scene.points.failed()
                + "] then=" + then;
        violations.add(new Violation(operation, step, promise, detail));
    }
}
