// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherJvmTest {

    private static final long OWN = ProcessHandle.current().pid();

    @Test
    void jvmWhoseJdkWasReplacedIsAJvm(@TempDir Path folder) throws IOException {
        Path maps = folder.resolve("maps");
        String line = "7f0000000000-7f0000001000 r-xp 00000000 fe:01 42   /jdk/lib/server/";
        Files.writeString(maps, "1-2 r-xp 0 0:0 0 [heap]\n" + line + "libjvm.so (deleted)\n");
        assertTrue(OtherJvm.mayBeJvm(OWN, maps));
        Files.writeString(maps, line + "libjvm.so\n");
        assertTrue(OtherJvm.mayBeJvm(OWN, maps));
        Files.writeString(maps, line + "libjvm.so.old (deleted)\n");
        assertFalse(OtherJvm.mayBeJvm(OWN, maps));
    }

    /// In the place of a file that may not be opened, which root may always.
    @Test
    void jvmThatMayNotBeLookedAtHasNotEnded(@TempDir Path folder) throws Exception {
        assertEquals(
                "cannot look at process: pid=" + OWN + " reason=Is a directory",
                assertThrows(IOException.class, () -> OtherJvm.mayBeJvm(OWN, folder))
                        .getMessage());
        Process over = new ProcessBuilder("true").start();
        over.waitFor();
        assertEquals(
                "JVM has ended: pid=" + over.pid(),
                assertThrows(IOException.class, () -> OtherJvm.mayBeJvm(over.pid(), folder))
                        .getMessage());
    }

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
