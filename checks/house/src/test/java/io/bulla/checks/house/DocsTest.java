// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What the README, the documents and the Javadoc show compiles, runs as it stands there, and prints what stands
/// beneath it.
class DocsTest {

    private static final Path ROOT = Path.of("../..");
    // its code is that of checks/serializers, where PageTest compares them
    private static final Path SERIALIZERS = ROOT.resolve("docs/serializers.md");
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    static List<Sample> samples() throws IOException {
        List<Sample> samples = new ArrayList<>();
        try (Stream<Path> documents =
                Stream.concat(Stream.of(ROOT.resolve("README.md")), Files.walk(ROOT.resolve("docs")))) {
            for (Path document : documents
                    .filter(each -> each.toString().endsWith(".md") && !each.equals(SERIALIZERS))
                    .sorted()
                    .toList()) {
                samples.addAll(Sample.of(ROOT.relativize(document).toString(), Files.readString(document)));
            }
        }
        for (String library : List.of(
                "refcount", "iovec", "buffer-core", "pack-unpack", "pool", "fanout", "native", "interop", "runtime")) {
            try (Stream<Path> sources = Files.walk(ROOT.resolve(library))) {
                for (Path source :
                        sources.filter(DocsTest::isPublished).sorted().toList()) {
                    samples.addAll(Sample.ofJavadoc(ROOT.relativize(source).toString(), Files.readString(source)));
                }
            }
        }
        return samples;
    }

    private static boolean isPublished(Path source) {
        return source.toString().replace('\\', '/').matches(".*/src/main/java/.*\\.java");
    }

    @ParameterizedTest
    @MethodSource("samples")
    void programPrintsWhatStandsBeneathIt(Sample sample, @TempDir Path folder)
            throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve(sample.fileName()), sample.program());
        String name = source.getFileName().toString().replace(".java", "");
        StringWriter said = new StringWriter();
        // one compiler for all: that of `java FILE` starts cold each time
        assertTrue(
                COMPILER.getTask(
                                said,
                                null,
                                null,
                                List.of("-proc:none", "-cp", classPath(), "-d", folder.toString()),
                                null,
                                COMPILER.getStandardFileManager(null, null, null)
                                        .getJavaFileObjects(source))
                        .call(),
                said::toString);
        assertEquals(sample.output(), output(folder, sample.flags(), folder + File.pathSeparator + classPath(), name));
    }

    /// Documents say that a program is a file which `java` compiles and runs.
    @Test
    void programIsAFileThatJavaRunsAsItIs(@TempDir Path folder) throws IOException, InterruptedException {
        Sample first = samples().getFirst();
        Path source = Files.writeString(folder.resolve(first.fileName()), first.program());
        assertEquals(first.output(), output(folder, first.flags(), classPath(), source.toString()));
    }

    private static String output(Path folder, List<String> flags, String classPath, String program)
            throws IOException, InterruptedException {
        Path output = folder.resolve("out");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, program));
        Process java = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(java.waitFor(60, TimeUnit.SECONDS));
        String said = Files.readString(output);
        assertEquals(0, java.exitValue(), said);
        return said;
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

    /// The types that a user meets first: behind its first sentence, the Javadoc of each has a program.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "refcount/src/main/java/io/bulla/refcount/LeaseLedger.java",
                "iovec/src/main/java/io/bulla/iovec/IoVec.java",
                "iovec/src/main/java/io/bulla/iovec/IoVecCursor.java",
                "buffer-core/src/main/java/io/bulla/buffer/ArenaSource.java",
                "buffer-core/src/main/java/io/bulla/buffer/BufferBuilder.java",
                "buffer-core/src/main/java/io/bulla/buffer/BufferReader.java",
                "buffer-core/src/main/java/io/bulla/buffer/MemoryBudget.java",
                "buffer-core/src/main/java/io/bulla/buffer/SealedBuffer.java",
                "pack-unpack/src/main/java/io/bulla/pack/Codec.java",
                "pack-unpack/src/main/java/io/bulla/pack/Envelope.java",
                "pack-unpack/src/main/java/io/bulla/pack/Packer.java",
                "pack-unpack/src/main/java/io/bulla/pack/Unpacker.java"
            })
    void javadocBeginsWithAProgram(String source) throws IOException {
        List<String> lines = Files.readAllLines(ROOT.resolve(source));
        int sentence = lines.indexOf("///") - 1;
        assertTrue(lines.get(sentence).startsWith("/// "), source);
        assertEquals("/// ```java", lines.get(sentence + 2), source);
    }

    @Test
    void programOfAJavadocIsFound() {
        String program = "/// ```java\n/// void main() {}\n/// ```\n///\n";
        String fragment = "/// ```java\n/// of(...)\n/// ```\nclass X {}\n";
        String source = "package x;\n\n/// Does it.\n///\n" + program + "/// ```text\n/// ```\n" + fragment;
        assertEquals(
                List.of(new Sample("X.java", 5, List.of(), "void main() {}\n", "\n")),
                Sample.ofJavadoc("X.java", source));
        assertThrows(IllegalArgumentException.class, () -> Sample.ofJavadoc("X.java", program + fragment));
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
