// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultRun.Operation;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Makes each system call of an operation a fault point: one that fails answers with an error number, and the
/// operation's failure has to name it. Counts the calls of the operation's thread, and of a lender's.
final class FailingCalls implements SyscallInterceptor.Watcher {

    private static final int ENOMEM = 12;
    private static final Pattern OVER = Pattern.compile(
            "=closed|=broken|file is broken|connection ended|borrower was closed|gone=\\[|errno=(9|32|104)\\b");

    private final FaultPoints points;
    private final Thread operation = Thread.currentThread();
    // under the lock
    private @Nullable Throwable injected;
    private int errno;
    private boolean elsewhere;

    private FailingCalls(FaultPoints points) {
        this.points = points;
    }

    /// The same operation, whose system calls fail.
    static Operation failing(Operation way) {
        return scene -> {
            FailingCalls calls = new FailingCalls(scene.points());
            Action action = way.prepare(scene);
            SyscallInterceptor.watch(calls);
            return told(action, calls);
        };
    }

    /// The same operation, none of whose system calls fails.
    static Operation passing(Operation way) {
        return scene -> {
            SyscallInterceptor.watch(null);
            return told(way.prepare(scene), new FailingCalls(scene.points()));
        };
    }

    private static Action told(Action action, FailingCalls calls) {
        return new Action() {
            @Override
            public @Nullable Object run() throws Exception {
                try {
                    return action.run();
                } catch (Exception failure) {
                    throw (Exception) calls.named(failure);
                } catch (Error failure) {
                    throw (Error) calls.named(failure);
                }
            }

            @Override
            public void passed(@Nullable Object result) {
                action.passed(result);
            }
        };
    }

    /// A step out of a foreign call, whose refusals are told in the way of the other modules.
    static Runnable back(Step step) {
        return () -> {
            try {
                step.run();
            } catch (IOException failure) {
                throw over(failure) instanceof IllegalStateException over ? over : new IllegalStateException(failure);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        };
    }

    interface Step {
        void run() throws IOException, InterruptedException;
    }

    @Override
    public int before(String call, Object[] arguments) {
        Thread caller = Thread.currentThread();
        int[] errnos = Injector.ERRNOS.get(call);
        boolean counts = caller == operation || caller.getName().equals("bulla-lender");
        if (errnos == null || errnos.length == 0 || !counts) {
            return 0;
        }
        try {
            points.reach(call);
            return 0;
        } catch (RuntimeException failure) {
            return answer(failure, errnos[errnos.length - 1], caller);
        } catch (Error noMemory) {
            boolean known = Arrays.stream(errnos).anyMatch(each -> each == ENOMEM);
            return answer(noMemory, known ? ENOMEM : errnos[0], caller);
        }
    }

    private synchronized int answer(Throwable failure, int with, Thread caller) {
        injected = failure;
        errno = Math.abs(with);
        elsewhere = caller != operation;
        return with;
    }

    /// Of a failure that names the call's, what was injected is a part.
    private synchronized Throwable named(Throwable failure) {
        Throwable first = injected;
        injected = null;
        if (first == null) {
            return FaultPoints.isInjected(failure) ? failure : over(failure);
        }
        if (names(failure) || elsewhere && isEnd(failure)) {
            failure.addSuppressed(first);
        }
        return failure;
    }

    private boolean names(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (String.valueOf(each.getMessage()).matches("(?s).*\\berrno=" + errno + "\\b.*")) {
                return true;
            }
        }
        return false;
    }

    /// What is seen of a call that failed on the other thread.
    private static boolean isEnd(Throwable failure) {
        return failure instanceof EOFException || failure instanceof PosixException.PeerClosed;
    }

    /// This module says that something is over by its own exceptions, too.
    static Throwable over(Throwable failure) {
        boolean isOver = failure instanceof IOException
                && OVER.matcher(String.valueOf(failure.getMessage())).find();
        return isOver ? new IllegalStateException("over already: " + failure.getMessage(), failure) : failure;
    }
}
