// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/// One change of a source, and the tests that should see it.
///
/// @param name  in small letters, one of its kind
/// @param source  below the root
/// @param edits  all of them are made
/// @param tests  JUnit classes, `<package>.<Class>` or `<package>.<Class>#<method>`, or stress programs as
///     `stress:<package>.<Class>`; the one that is known to kill it comes first
/// @param twins  litmus twins, if x86 hides it: then the ledger must tell it as well
record Mutant(String name, Path source, List<Edit> edits, List<String> tests, List<String> twins) {

    /// @param find  text that stands in the source once
    /// @param replacement  what stands there instead
    record Edit(String find, String replacement) {}

    /// All in a folder's `*.mutants`, by name of the file and then in order.
    static List<Mutant> all(Path folder) throws IOException {
        var mutants = new ArrayList<Mutant>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".mutants"))
                    .sorted()
                    .toList()) {
                mutants.addAll(read(file));
            }
        }
        return mutants;
    }

    // a file names its source and its tests; then a block for each mutant
    private static List<Mutant> read(Path file) throws IOException {
        var mutants = new ArrayList<Mutant>();
        Path source = null;
        List<String> tests = List.of();
        for (String block : Files.readString(file).strip().split("\n\n+")) {
            var fields = new Fields(block);
            if (fields.has("source")) {
                source = Path.of(fields.text("source"));
                tests = fields.words("tests");
            } else if (!fields.lines.isEmpty()) {
                mutants.add(new Mutant(
                        fields.text("mutant"),
                        source,
                        fields.edits(),
                        killerFirst(fields.words("killer"), fields.has("tests") ? fields.words("tests") : tests),
                        fields.words("hidden")));
            }
        }
        return mutants;
    }

    private static List<String> killerFirst(List<String> killer, List<String> tests) {
        return Stream.concat(killer.stream(), tests.stream()).distinct().toList();
    }

    /// The source with the change in it.
    String applied(String text) {
        for (Edit edit : edits) {
            int at = text.indexOf(edit.find);
            if (at < 0 || text.indexOf(edit.find, at + 1) >= 0) {
                throw new IllegalStateException("patch does not apply: mutant=" + name + " source=" + source + " found="
                        + (at < 0 ? "not at all" : "more than once"));
            }
            text = text.substring(0, at) + edit.replacement + text.substring(at + edit.find.length());
        }
        return text;
    }

    // lines "key: text"; a key that comes again adds a line
    private record Fields(List<String> lines) {

        Fields(String block) {
            this(Arrays.stream(block.split("\n"))
                    .filter(line -> !line.startsWith("#"))
                    .toList());
        }

        boolean has(String key) {
            return lines.stream().anyMatch(line -> line.startsWith(key + ":"));
        }

        String text(String key) {
            return String.join(
                    "\n",
                    lines.stream()
                            .filter(line -> line.startsWith(key + ":"))
                            .map(line -> line.substring(key.length() + 1).replaceFirst("^ ", ""))
                            .toList());
        }

        // a "find" behind a "with" begins the next edit
        List<Edit> edits() {
            var edits = new ArrayList<Edit>();
            int begin = 0;
            for (int i = 1; i <= lines.size(); i++) {
                if (i == lines.size()
                        || lines.get(i).startsWith("find:") && lines.get(i - 1).startsWith("with:")) {
                    var one = new Fields(lines.subList(begin, i));
                    edits.add(new Edit(one.text("find"), one.text("with")));
                    begin = i;
                }
            }
            return edits;
        }

        List<String> words(String key) {
            return has(key) ? List.of(text(key).strip().split("\\s+")) : List.of();
        }
    }
}
