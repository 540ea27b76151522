// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Public operations in a JVM of their own whose heap is full. `./check faults` runs all of them.
@Tag("faults")
class FullHeapFaultTest {

    @ParameterizedTest
    @CsvSource({"16, 1, SealedBuffer.share", "16, 2, BufferBuilder.seal", "32, 3, Lease.", "16, 4, Packer.packString"})
    void operationsKeepTheirPromisesInAFullHeap(int megabytes, long seed, String operations)
            throws IOException, InterruptedException {
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx" + megabytes + "m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FullHeap.class.getName(),
                        "--seed",
                        Long.toString(seed),
                        "--operation",
                        operations)
                .redirectErrorStream(true)
                .start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, program.waitFor(), said);
        System.out.print(said.replace("area=heap", "part=heap"));
    }
}
