// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What this process has used so far: heap that was allocated, and processor time. */
record Figures(long heapBytes, long cpuNanos) {

    static Figures now() {
        return new Figures(
                ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes(),
                ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime());
    }

    String since(Figures before, long sends) {
        return "heap=" + (heapBytes - before.heapBytes) / sends + "B cpu=" + (cpuNanos - before.cpuNanos) / sends + "ns";
    }
}
