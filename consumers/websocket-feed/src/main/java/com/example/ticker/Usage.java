// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What this process has used by now.
 *
 * @param nanos when
 * @param cpuNanos processor time, of the kernel too
 * @param heapBytes used, garbage included
 * @param residentBytes 0 where /proc does not say it
 */
record Usage(long nanos, long cpuNanos, long heapBytes, long residentBytes) {

    private static final Path STATUS = Path.of("/proc/self/status");

    static Usage now() {
        return new Usage(
                System.nanoTime(),
                ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime(),
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                resident());
    }

    private static long resident() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith("VmRSS:")) {
                    return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
                }
            }
        } catch (IOException e) {
            // another system than Linux
        }
        return 0;
    }
}
