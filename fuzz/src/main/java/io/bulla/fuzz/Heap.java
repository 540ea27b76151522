// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/// Measures the heap that the current thread allocates, against a limit.
public final class Heap {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Heap() {}

    /// Over a limit, perhaps only because a path was taken for the first time.
    static final class OverLimit extends AssertionError {

        private static final long serialVersionUID = 1;

        OverLimit(long bytes, long limit) {
            super("heap over the limit: bytes=" + bytes + " limit=" + limit);
        }
    }

    /// Bytes allocated so far.
    ///
    /// @return a number that only grows
    public static long allocated() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    /// Claims that no more than so much was allocated meanwhile.
    ///
    /// @param before what [#allocated] said
    /// @param limit in bytes
    public static void claim(long before, long limit) {
        long bytes = allocated() - before;
        if (bytes > limit) {
            throw new OverLimit(bytes, limit);
        }
    }

    static long processorNanos() {
        return THREADS.getCurrentThreadCpuTime();
    }
}
