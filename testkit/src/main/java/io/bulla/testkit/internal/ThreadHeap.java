// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.internal;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/// What the current thread has taken from the heap.
public final class ThreadHeap {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private ThreadHeap() {}

    /// Bytes since the thread began.
    ///
    /// @return at least 0
    /// @throws IllegalStateException on a virtual thread, whose heap the JVM does not measure
    public static long taken() {
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        if (bytes < 0) {
            throw new IllegalStateException("heap of this thread is not measured: thread=" + Thread.currentThread());
        }
        return bytes;
    }
}
