// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// Resources of a node's checkpoints: a thread that decides and never blocks, a thread for the store, which may
/// block, a clock and random numbers. Tests put a simulator in its place.
interface Agent {

    /// The receiver of a result.
    interface Then<T> {

        /// @param result if there is no failure
        void accept(@Nullable T result, @Nullable Throwable failure);
    }

    /// On the thread that decides, in order. Any thread.
    ///
    /// @return false if this is closed: then nothing happens
    boolean run(Runnable task);

    /// On the thread that decides. If this is closed, nothing happens.
    Future<?> later(Runnable task, long nanos);

    /// Does what blocks, and goes on with its result on the thread that decides, if that still runs.
    default <T> void store(Callable<T> task, Then<T> then) {
        block(() -> {
            T result = null;
            Throwable failure = null;
            try {
                result = task.call();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            T done = result;
            Throwable why = failure;
            run(() -> then.accept(done, why));
        });
    }

    /// On the thread for the store, in order.
    void block(Runnable task);

    void log(String what, Throwable failure);

    /// In nanoseconds, never back.
    long now();

    /// Of the day.
    Instant time();

    /// Any number, each as likely as another.
    long number();

    /// Does what was asked for, and ends; waits a while for a store that blocks.
    void close();
}
