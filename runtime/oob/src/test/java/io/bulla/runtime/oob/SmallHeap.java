// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// A JVM of its own with a small heap, for programs that fill it.
public final class SmallHeap {

    private SmallHeap() {}

    /// Runs one of the programs among the tests, which has to end well.
    ///
    /// @return what it prints
    public static String run(Class<?> program) throws IOException, InterruptedException {
        String classes = Path.of(program.getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .toString();
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx24m",
                        "-cp",
                        String.join(
                                File.pathSeparator,
                                classes,
                                Path.of("target/test-classes").toAbsolutePath().toString(),
                                System.getProperty("jdk.module.path", ""),
                                System.getProperty("java.class.path", "")),
                        program.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, child.waitFor(), said);
        return said.strip();
    }
}
