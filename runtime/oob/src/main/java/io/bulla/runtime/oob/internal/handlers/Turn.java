// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import java.util.concurrent.Executor;

/// What arrives in one turn of the event loop, which goes to the handlers' thread in one step, with one wake-up.
///
/// ```
/// hold, hold, hold | over, or a bound is reached: one step, one wake-up | hold ...
/// ```
///
/// The turn is over when a connection has been read, or at the latest when the loop runs its tasks. A sender without
/// end delays no other: after so many messages or bytes it goes all the same, and bytes of a message that
/// is not whole yet count, too. One event loop's.
final class Turn {

    static final int MOST_MESSAGES = 64;
    static final long MOST_BYTES = 1 << 20;

    private final HandlerExecutor handlers;
    private final Executor loop;
    private final Runnable tasks = this::tasks;
    private int messages;
    private long bytes;
    // the loop has a task that ends the turn
    private boolean ends;

    /// @param loop runs a task behind what it reads now
    Turn(HandlerExecutor handlers, Executor loop) {
        this.handlers = handlers;
        this.loop = loop;
    }

    void hold(HandlerExecutor.Item item, long length) {
        handlers.hold(item);
        messages++;
        bytes += length;
        if (messages >= MOST_MESSAGES || bytes >= MOST_BYTES || !willEnd()) {
            over();
        }
    }

    /// Bytes of a message have landed that is not whole yet.
    void landed(long length) {
        bytes += length;
        if (messages > 0 && bytes >= MOST_BYTES) {
            over();
        }
    }

    /// @return false if no task will end it
    private boolean willEnd() {
        if (!ends) {
            try {
                loop.execute(tasks);
                ends = true;
            } catch (Throwable noTask) {
                // what is held goes now
                return false;
            }
        }
        return true;
    }

    private void tasks() {
        ends = false;
        over();
    }

    /// What is held goes now.
    void over() {
        bytes = 0;
        if (messages > 0) {
            messages = 0;
            handlers.letGo();
        }
    }
}
