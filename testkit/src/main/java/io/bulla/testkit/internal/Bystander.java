// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.internal;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Another thread, which uses what one thread is in the middle of using.
public final class Bystander {

    private static final ExecutorService THREADS = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("fault-bystander-", 0).factory());

    private Bystander() {}

    /// Runs `work` to its end on another thread.
    ///
    /// @return `null`, or what went wrong; it begins with `waits` if the work did not end
    public static @Nullable String run(Runnable work, Duration patience) {
        // the operation may be one of a thread that is interrupted, and stays so
        boolean interrupted = Thread.interrupted();
        try {
            return runToItsEnd(work, patience);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static @Nullable String runToItsEnd(Runnable work, Duration patience) {
        Future<?> running = THREADS.submit(work);
        try {
            running.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return null;
        } catch (TimeoutException waits) {
            running.cancel(true);
            return "waits for the stalled thread: patience=" + patience.toSeconds() + "s";
        } catch (ExecutionException failed) {
            return String.valueOf(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }
}
