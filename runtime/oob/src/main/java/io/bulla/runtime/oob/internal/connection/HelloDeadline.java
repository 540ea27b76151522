// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.internal.core.LoopContext;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// The time that a connection has to greet. On its event loop.
final class HelloDeadline {

    private final LoopContext context;
    private final EventLoop loop;
    private final long nanos;
    private final Consumer<IOException> late;
    private final long begun;
    private Future<?> deadline;

    /// @param nanos time for the other side to say hello
    /// @param late called unless this is cancelled before
    HelloDeadline(LoopContext context, EventLoop loop, long nanos, Consumer<IOException> late) {
        this.context = context;
        this.loop = loop;
        this.nanos = nanos;
        this.late = late;
        this.begun = context.loopTime();
        this.deadline = loop.schedule(this::over, nanos, TimeUnit.NANOSECONDS);
    }

    /// A loop that was held up did not listen either, so it waits as long again.
    private void over() {
        long left = nanos - (context.loopTime() - begun);
        if (left > nanos / 4) {
            deadline = loop.schedule(this::over, left, TimeUnit.NANOSECONDS);
        } else {
            late.accept(new IOException("no hello in time: millis=" + nanos / 1_000_000));
        }
    }

    void cancel() {
        deadline.cancel(false);
    }
}
