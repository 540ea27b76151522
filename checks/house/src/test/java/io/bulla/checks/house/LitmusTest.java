// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Each litmus file says which lines of Java it transcribes: ` P0: Type.method: code = INSTRUCTION`, and a twin
/// `, here INSTRUCTION` behind what it changes. A program that cannot be traced back to the code proves nothing of
/// it.
class LitmusTest {

    private static final Pattern LINE = Pattern.compile("(?m)^ (P\\d): (\\w+)\\.(\\w+): (.+) = ([^=\"]+?)\"?$");
    private static final List<String> MODULES =
            List.of("refcount", "iovec", "buffer-core", "pool", "native/posix", "runtime/oob");

    @Test
    void everyLineOfJavaIsInItsSource() throws IOException {
        Map<String, String> sources = sources();
        var wrong = new ArrayList<String>();
        for (Path file : files()) {
            List<MatchResult> lines = lines(file);
            if (lines.isEmpty()) {
                wrong.add(file.getFileName() + ": names no line of Java");
            }
            for (MatchResult line : lines) {
                String source = sources.getOrDefault(line.group(2), "");
                if (!source.contains(line.group(4)) || !source.contains(" " + line.group(3) + "(")) {
                    wrong.add(file.getFileName() + ": not in the sources:" + line.group());
                }
            }
        }
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    @Test
    void everyInstructionThatItNamesIsInItsThread() throws IOException {
        var wrong = new ArrayList<String>();
        for (Path file : files()) {
            for (MatchResult line : lines(file)) {
                List<String> thread =
                        thread(file, Integer.parseInt(line.group(1).substring(1)));
                for (String instruction : instructions(line.group(5))) {
                    if (thread.stream().noneMatch(step -> step.startsWith(instruction))) {
                        wrong.add(file.getFileName() + ": no " + instruction + " in " + line.group(1));
                    }
                }
            }
        }
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    /// The ledger's table says what a mode becomes; an access has the mode that its operation says.
    @Test
    void everyModeIsMappedAsTheLedgerSays() throws IOException {
        var table = new TreeSet<String>();
        for (List<String> row : new Ledger(root()).table("## What the modes become")) {
            for (String operation : Ledger.words(row.get(0))) {
                for (String cell : row.subList(1, row.size())) {
                    Ledger.words(cell).forEach(instruction -> table.add(operation + " = " + instruction));
                }
            }
        }
        var wrong = new TreeSet<String>();
        for (Path file : files()) {
            for (MatchResult line : lines(file)) {
                String instruction = line.group(5).replaceFirst(", here .*", "");
                String operation = operation(line.group(4));
                if (!table.contains(operation + " = " + instruction)) {
                    wrong.add(file.getFileName() + ": " + operation + " = " + instruction);
                }
            }
        }
        assertEquals(List.of(), List.copyOf(wrong));
    }

    @Test
    void everyTwinChangesWhatItSaysAndNothingElse() throws IOException {
        var wrong = new ArrayList<String>();
        for (Path file : files()) {
            String name = file.getFileName().toString();
            boolean twin = name.endsWith(".weakened.litmus");
            boolean changed =
                    lines(file).stream().anyMatch(line -> line.group(5).contains(", here "));
            if (twin != changed || twin != Files.readString(file).contains("\n\"Lacks ")) {
                wrong.add(name);
            }
        }
        assertTrue(wrong.isEmpty(), () -> "does not say what it lacks, and where: " + wrong);
    }

    // what a plain access is called in the table follows from its text
    private static String operation(String code) {
        var call = Pattern.compile("\\.(\\w+)\\(").matcher(code);
        String first = call.find() ? call.group(1) : "";
        if (!first.isEmpty()) {
            return first;
        }
        return code.startsWith("current = ")
                ? "volatile write"
                : code.endsWith("= current") ? "volatile read" : "plain";
    }

    private static List<String> instructions(String said) {
        String here = said.contains(", here ") ? said.substring(said.indexOf(", here ") + 7) : said;
        return here.startsWith("fence") || here.startsWith("DMB") ? List.of(here) : List.of(here.split(" "));
    }

    private static List<String> thread(Path file, int number) throws IOException {
        // behind the text and the line of first values
        return Files.readAllLines(file).stream()
                .dropWhile(line -> !line.startsWith("{ "))
                .filter(line -> line.endsWith(";"))
                .map(line -> line.substring(0, line.length() - 1).split("\\|"))
                .map(columns -> columns[number].strip())
                .toList();
    }

    private static List<MatchResult> lines(Path file) throws IOException {
        return LINE.matcher(Files.readString(file)).results().toList();
    }

    private static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(root().resolve("stress").resolve("litmus"))) {
            return files.sorted().toList();
        }
    }

    private static Map<String, String> sources() throws IOException {
        var sources = new HashMap<String, String>();
        for (String module : MODULES) {
            try (Stream<Path> files =
                    Files.walk(root().resolve(module).resolve("src").resolve("main"))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        return sources;
    }

    private static Path root() {
        Path here = Path.of("").toAbsolutePath();
        while (!Files.exists(here.resolve("docs").resolve("memory-model.md"))) {
            here = here.getParent();
            assertFalse(here == null, "no docs/memory-model.md above the working directory");
        }
        return here;
    }
}
