// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What the README and the documents show compiles, runs as it stands there, and prints what stands beneath it.
class DocsTest {

    private static final Path ROOT = Path.of("..");

    static List<Sample> samples() throws IOException {
        List<Sample> samples = new ArrayList<>();
        try (Stream<Path> documents =
                Stream.concat(Stream.of(ROOT.resolve("README.md")), Files.walk(ROOT.resolve("docs")))) {
            for (Path document : documents
                    .filter(each -> each.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                samples.addAll(Sample.of(ROOT.relativize(document).toString(), Files.readString(document)));
            }
        }
        return samples;
    }

    @ParameterizedTest
    @MethodSource("samples")
    void programPrintsWhatStandsBeneathIt(Sample sample, @TempDir Path folder)
            throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("Sample.java"), sample.program());
        Path output = folder.resolve("out");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(sample.flags());
        command.addAll(List.of("-cp", classPath(), source.toString()));
        Process java = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(java.waitFor(60, TimeUnit.SECONDS));
        assertEquals(sample.output(), Files.readString(output));
        assertEquals(0, java.exitValue());
    }

    /// Without what tests alone bring: Netty would find a logger's front, and that would miss its back.
    private static String classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("slf4j"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    @Test
    void everyKindOfUserHasAProgram() throws IOException {
        List<String> documents = samples().stream().map(Sample::document).toList();
        assertTrue(documents.contains("README.md"), documents::toString);
        assertTrue(documents.stream().filter("docs/getting-started.md"::equals).count() >= 6, documents::toString);
    }

    @Test
    void programWithoutItsOutputIsRefused() {
        assertEquals(
                "no ```text beneath the program: document=x.md line=2",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> Sample.of("x.md", "a\n```java\nint i;\n```\n\nend\n"))
                        .getMessage());
    }
}
