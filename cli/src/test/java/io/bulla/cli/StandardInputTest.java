// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.cli.shell.StandardInput;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StandardInputTest {

    private static final Path DASH = Path.of("-");

    private final InputStream before = System.in;

    @BeforeEach
    void writeInput() {
        System.setIn(new ByteArrayInputStream(new byte[100_000]));
    }

    @AfterEach
    void restoreInput() {
        System.setIn(before);
    }

    @Test
    void isKeptInAFileUntilItIsClosed() throws IOException {
        Path other = Path.of("other");
        Path kept;
        try (StandardInput input = StandardInput.among(List.of(other, DASH), 100_000)) {
            assertEquals(other, input.files().getFirst());
            kept = input.files().getLast();
            assertEquals(100_000, Files.size(kept));
        }
        assertFalse(Files.exists(kept.getParent()));
    }

    @Test
    void isNotReadIfItIsNotNamed() throws IOException {
        try (StandardInput input = StandardInput.among(List.of(Path.of("./-")), 1)) {
            assertEquals(List.of(Path.of("./-")), input.files());
        }
        assertEquals(100_000, System.in.available());
    }

    @Test
    void tooMuchOrTwiceIsRefusedByName() {
        assertEquals(
                "standard input over the limit: limit=99999",
                assertThrows(IOException.class, () -> StandardInput.among(List.of(DASH), 99_999))
                        .getMessage());
        assertEquals(
                "standard input can be read once: named=2",
                assertThrows(IOException.class, () -> StandardInput.among(List.of(DASH, DASH), 99_999))
                        .getMessage());
    }

    @Test
    void xcastSendsIt() {
        Ran ran = Ran.bulla("xcast", "--nodes", "2", "-");
        assertEquals(0, ran.status(), ran.err());
        assertTrue(ran.out().contains("100"), ran.out());
    }
}
