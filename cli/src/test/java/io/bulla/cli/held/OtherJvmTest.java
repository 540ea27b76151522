// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OtherJvmTest {

    @Test
    void jvmThatIsStoppedIsNotWaitedForForEver() throws Exception {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        IdleProgram.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            assertEquals("ready", jvm.inputReader().readLine());
            try (OtherJvm there = OtherJvm.of(jvm.pid())) {
                assertTrue(there.ask(bean -> bean.getOpenHandles()) == 0);
            }
            assertEquals(
                    0,
                    new ProcessBuilder("kill", "-STOP", Long.toString(jvm.pid()))
                            .start()
                            .waitFor());
            assertEquals(
                    "JVM does not answer: pid=" + jvm.pid() + " waited=1000ms",
                    assertThrows(IOException.class, () -> OtherJvm.of(jvm.pid(), Duration.ofSeconds(1)))
                            .getMessage());
        } finally {
            jvm.destroyForcibly().waitFor();
        }
    }
}
