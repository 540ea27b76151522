package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the README shows compiles and runs as it stands there.
class ReadmeTest {

    @Test
    void programOfTheReadmePrintsWhatItShould(@TempDir Path folder) throws IOException, InterruptedException {
        Matcher program = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("..", "README.md")));
        assertTrue(program.find());
        Path source = Files.writeString(folder.resolve("Hello.java"), program.group(1));
        Path output = folder.resolve("out");
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(java.waitFor(60, TimeUnit.SECONDS));
        assertEquals(
                Collections.nCopies(3, "hello 3"),
                List.of(Files.readString(output).split("\n")));
        assertEquals(0, java.exitValue());
    }
}
