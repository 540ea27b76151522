// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.machine;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// The one thread of the process that watches all its nodes; it is there while there is something to watch.
final class WatchThread implements Watch {

    private final ScheduledThreadPoolExecutor thread;

    WatchThread() {
        thread = new ScheduledThreadPoolExecutor(1, WatchThread::unstarted);
        thread.setRemoveOnCancelPolicy(true);
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
    }

    /// It outlives who asks first, so it keeps neither the class loader nor the thread locals of that one.
    private static Thread unstarted(Runnable looks) {
        Thread fresh = Thread.ofPlatform()
                .daemon()
                .name("bulla-watch")
                .inheritInheritableThreadLocals(false)
                .unstarted(looks);
        fresh.setContextClassLoader(ClassLoader.getSystemClassLoader());
        return fresh;
    }

    @Override
    public Runnable every(long nanos, Runnable look) {
        Future<?> looks = thread.scheduleWithFixedDelay(look, nanos, nanos, TimeUnit.NANOSECONDS);
        return () -> looks.cancel(false);
    }
}
