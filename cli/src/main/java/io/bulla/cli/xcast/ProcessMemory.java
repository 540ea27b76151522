// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The memory of this process as the kernel counts it: a page that several processes have mapped is
/// divided among them
/// (PSS), so that the sum of all processes is what all of them take.
final class ProcessMemory {

    private static final Path ROLLUP = Path.of("/proc/self/smaps_rollup");
    private static final String PSS = "Pss:";

    private ProcessMemory() {}

    /// @return bytes; 0 where the system does not say
    static long bytes() {
        try (Stream<String> lines = Files.lines(ROLLUP)) {
            return lines.filter(line -> line.startsWith(PSS))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        } catch (IOException notHere) {
            return 0;
        }
    }
}
