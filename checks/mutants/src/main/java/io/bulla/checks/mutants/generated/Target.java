// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants.generated;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/// A module whose logic is changed, and the tests that have to see it: a block of `stress/mutants/alive/modules`.
///
/// @param module  its folder
/// @param classes  simple names, or `*` for all; each with the classes in it
/// @param without  simple names that are left out
/// @param methods  patterns of method names that are left out
/// @param calls  classes of which a call is left out, with its line
/// @param tests  simple names, or `*` for all
/// @param withoutTests  simple names that are left out
/// @param goal  percent of the changes that have to be killed; what lives needs no row then, unless it is `100`
/// @param withRows  simple names of classes of which what lives needs a row whatever the goal, which is of the others
record Target(
        String module,
        Set<String> classes,
        Set<String> without,
        List<String> methods,
        List<String> calls,
        Set<String> tests,
        Set<String> withoutTests,
        int goal,
        Set<String> withRows) {

    static final int ALL = 100;

    static List<Target> all(Path root) throws IOException {
        var all = new ArrayList<Target>();
        for (String block :
                Files.readString(folder(root).resolve("modules")).strip().split("\n\n+")) {
            List<String> lines =
                    block.lines().filter(line -> !line.startsWith("#")).toList();
            if (!lines.isEmpty()) {
                all.add(new Target(
                        String.join("", words(lines, "module")),
                        new TreeSet<>(words(lines, "classes")),
                        new TreeSet<>(words(lines, "without")),
                        words(lines, "methods"),
                        words(lines, "calls"),
                        new TreeSet<>(words(lines, "tests")),
                        new TreeSet<>(words(lines, "without-tests")),
                        words(lines, "goal").stream()
                                .mapToInt(Integer::parseInt)
                                .findFirst()
                                .orElse(ALL),
                        new TreeSet<>(words(lines, "rows"))));
            }
        }
        return all;
    }

    private static List<String> words(List<String> lines, String key) {
        return lines.stream()
                .filter(line -> line.startsWith(key + ":"))
                .flatMap(line ->
                        Arrays.stream(line.substring(key.length() + 1).strip().split("\\s+")))
                .toList();
    }

    static Path folder(Path root) {
        return root.resolve("stress/mutants/alive");
    }

    Path rows(Path root) {
        return folder(root).resolve(module.replace('/', '-') + ".tsv");
    }

    /// Whether a change that lives needs a row.
    ///
    /// @param type  in full
    boolean needsRow(String type) {
        return goal == ALL || withRows.contains(type.substring(type.lastIndexOf('.') + 1));
    }

    /// Those of the classes that are changed of which each change that lives needs a row, in full.
    List<String> argued(Path root) throws IOException {
        return goal == ALL
                ? changed(root)
                : named(root.resolve(module).resolve("src/main/java"), withRows, without, "");
    }

    /// The classes that are changed, in full.
    List<String> changed(Path root) throws IOException {
        return named(root.resolve(module).resolve("src/main/java"), classes, without, "");
    }

    /// The tests, in full.
    List<String> looking(Path root) throws IOException {
        return named(root.resolve(module).resolve("src/test/java"), tests, withoutTests, "Test");
    }

    /// A name that is not there is a mistake.
    private List<String> named(Path sources, Set<String> names, Set<String> left, String end) throws IOException {
        var unknown = new TreeSet<>(names);
        unknown.addAll(left);
        unknown.remove("*");
        var found = new ArrayList<String>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file : files.sorted().toList()) {
                String path = sources.relativize(file).toString();
                if (!path.endsWith(end + ".java") || path.endsWith("-info.java")) {
                    continue;
                }
                String type =
                        path.substring(0, path.length() - ".java".length()).replace('/', '.');
                String simple = type.substring(type.lastIndexOf('.') + 1);
                unknown.remove(simple);
                if ((names.contains("*") || names.contains(simple)) && !left.contains(simple)) {
                    found.add(type);
                }
            }
        }
        if (!unknown.isEmpty()) {
            throw new IllegalStateException("no such class: module=" + module + " names=" + unknown);
        }
        return found;
    }
}
