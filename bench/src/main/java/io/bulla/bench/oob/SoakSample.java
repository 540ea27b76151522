// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseTally;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// What the process holds at one moment.
///
/// @param seconds since the load began
/// @param messages that were completed since then
/// @param residentBytes of the process, as Linux counts them
/// @param descriptors that are open
/// @param threads of the process, those of the JVM too
/// @param handles that are open
/// @param sourceBytes reserved by the memory source
/// @param heapBytes in use after a full collection
record SoakSample(
        double seconds,
        long messages,
        long residentBytes,
        long descriptors,
        long threads,
        long handles,
        long sourceBytes,
        long heapBytes) {

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    static SoakSample now(double seconds, long messages, LeaseTally handles, MemoryBudget budget) throws IOException {
        // full collections, or the heap would show garbage
        System.gc();
        long open;
        try (Stream<Path> files = Files.list(DESCRIPTORS)) {
            open = files.count();
        }
        return new SoakSample(
                seconds,
                messages,
                status("VmRSS:") << 10,
                open,
                status("Threads:"),
                handles.open(),
                budget.used(),
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }

    private static long status(String name) throws IOException {
        return Files.readAllLines(STATUS).stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.replaceAll("\\D", ""))
                .mapToLong(Long::parseLong)
                .findFirst()
                .orElseThrow(() -> new IOException("no such line: file=" + STATUS + " name=" + name));
    }
}
