// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.mutants;

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
/// @param find  text that stands in the source once
/// @param replacement  what stands there instead
/// @param tests  JUnit classes, or stress programs as `stress:<package>.<Class>`
/// @param twins  litmus twins, if x86 hides it: then the ledger must tell it as well
record Mutant(String name, Path source, String find, String replacement, List<String> tests, List<String> twins) {

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
            } else {
                mutants.add(new Mutant(
                        fields.text("mutant"),
                        source,
                        fields.text("find"),
                        fields.text("with"),
                        fields.has("tests") ? fields.words("tests") : tests,
                        fields.words("hidden")));
            }
        }
        return mutants;
    }

    /// The source with the change in it.
    String applied(String text) {
        int at = text.indexOf(find);
        if (at < 0 || text.indexOf(find, at + 1) >= 0) {
            throw new IllegalStateException("patch does not apply: mutant=" + name + " source=" + source + " found="
                    + (at < 0 ? "not at all" : "more than once"));
        }
        return text.substring(0, at) + replacement + text.substring(at + find.length());
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

        List<String> words(String key) {
            return has(key) ? List.of(text(key).strip().split("\\s+")) : List.of();
        }
    }
}
