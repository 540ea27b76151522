// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Closing an arena only frees; the C library may keep all of what was freed, since one piece that is in use at the
/// end of each of its heaps is enough for that. The source's thread has it given back.
class ResidentMemoryTest {

    private static final String[] CHUNKS = {"262144", "1048576", "4194304", "16777216"};
    private static final long BUILT_KIB = 256 << 10;

    @Test
    void residentSetIsBackNearItsFloorAfterTheBackgroundTrim() throws IOException, InterruptedException {
        assumeTrue(Files.isReadable(Path.of("/proc/self/status")), "Linux only");
        // a heap of fixed size that is touched at once, so that only native memory moves
        List<String> command = new ArrayList<>(ForkedJvm.command(
                Resident.class, "-Xms96m", "-Xmx96m", "-Xmn64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"));
        command.addAll(Arrays.asList(CHUNKS));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines;
        try (BufferedReader out = process.inputReader()) {
            lines = out.readAllLines();
        } finally {
            process.destroy();
        }
        assertEquals(0, process.waitFor(), () -> String.join("\n", lines));
        assertEquals(CHUNKS.length, lines.size(), () -> String.join("\n", lines));
        for (String line : lines) {
            long[] figures =
                    Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
            String report = "resident KiB: chunkBytes=" + figures[0] + " floor=" + figures[1] + " peak=" + figures[2]
                    + " closed=" + figures[3] + " trimmed=" + figures[4] + " trims=" + figures[5];
            System.out.println(report);
            assertTrue(figures[2] - figures[1] >= BUILT_KIB / 8 * 7, report);
            if (figures[5] > 0) {
                // an eighth of what was built, for what the JVM itself grows meanwhile
                assertTrue(figures[4] - figures[1] <= BUILT_KIB / 8, report);
            }
        }
    }
}
