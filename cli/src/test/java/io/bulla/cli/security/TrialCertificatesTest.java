// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.certificates.CertificateAuthority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrialCertificatesTest {

    @TempDir
    private Path tmp;

    private Process command() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + tmp,
                        "-cp",
                        System.getProperty("java.class.path"),
                        CertificatesProgram.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Path folderOf(Process command) throws IOException {
        Path folder = Path.of(command.inputReader().readLine());
        assertTrue(Files.exists(folder.resolve("rank-1.key")));
        return folder;
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> all = Files.list(tmp)) {
            return all.filter(each -> each.getFileName().toString().contains("bulla"))
                    .toList();
        }
    }

    @Test
    void signalRemovesTheKeys() throws Exception {
        Process command = command();
        folderOf(command);
        command.destroy();
        assertTrue(command.waitFor(60, TimeUnit.SECONDS));
        assertEquals(128 + 15, command.exitValue());
        assertEquals(List.of(), left());
    }

    @Test
    void nextCommandRemovesTheKeysOfOneThatWasKilled() throws Exception {
        Process killed = command();
        Path folder = folderOf(killed);
        killed.destroyForcibly().waitFor();
        assertTrue(Files.exists(folder));
        Process next = command();
        folderOf(next);
        assertFalse(Files.exists(folder));
        next.getOutputStream().close();
        assertTrue(next.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, next.exitValue());
        assertEquals(List.of(), left());
    }

    /// As a shutdown hook does, beside the thread that writes.
    @Test
    void keysThatAreRemovedAreNotWrittenAgain() throws IOException {
        TrialCertificates certificates = TrialCertificates.temporary(0);
        certificates.close();
        Instant now = Instant.now();
        CertificateAuthority authority = CertificateAuthority.create("test", now, now.plus(Duration.ofDays(1)));
        assertThrows(IOException.class, () -> certificates.write(authority, 1));
        assertFalse(Files.exists(certificates.folder()));
    }
}
