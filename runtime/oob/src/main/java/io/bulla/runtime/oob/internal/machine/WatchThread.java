// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.machine;

import io.bulla.runtime.oob.internal.core.NodeLog;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// The one thread of the process that watches all its nodes; it is there while there is something to watch.
final class WatchThread implements Watch {

    private final ScheduledThreadPoolExecutor thread;

    WatchThread() {
        thread = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("bulla-watch").factory());
        thread.setRemoveOnCancelPolicy(true);
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
    }

    @Override
    public Runnable every(long nanos, Runnable look) {
        Future<?> looks = thread.scheduleWithFixedDelay(() -> safely(look), nanos, nanos, TimeUnit.NANOSECONDS);
        return () -> looks.cancel(false);
    }

    /// The next look comes only if this one returns.
    private static void safely(Runnable look) {
        try {
            look.run();
        } catch (Throwable failure) {
            NodeLog.failed("watch failed", failure);
        }
    }
}
