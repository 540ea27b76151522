// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutorGroup;
import java.util.concurrent.TimeUnit;

/// The end of event loops. Netty tells listeners of it on a thread that the process has once, its
/// `GlobalEventExecutor`: a task that blocks there holds them up, and a failure that cannot be logged, as while the
/// heap is full, ends that thread for good. So this waits by itself.
public final class LoopEnd {

    // a loop whose thread cannot be started in order to end says so by its state alone, and wakes none
    private static final long LOOK_MILLIS = 100;

    private LoopEnd() {}

    /// Waits until the threads of loops have ended, also if the caller is interrupted, who stays so. Not on one of
    /// them.
    public static void await(EventExecutorGroup loops) {
        boolean interrupted = false;
        while (!loops.isTerminated()) {
            try {
                loops.awaitTermination(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException waitsOn) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Runs a task when a loop's thread has ended: at once if it has, or else on a thread for this. Any thread.
    public static void then(EventLoop loop, Runnable task) {
        if (loop.isTerminated()) {
            task.run();
        } else {
            Thread.ofPlatform().daemon().name("bulla-loop-end").start(() -> {
                await(loop);
                task.run();
            });
        }
    }
}
