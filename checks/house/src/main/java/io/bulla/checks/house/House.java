// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The modules of the build in figures: packages, files, lines, and knots of classes.
///
/// The modules are those of the root's `pom.xml`. Knots are counted where the module's class files are on the class
/// path, so in all but the leaves that the command does not know.
record House(List<Module> modules) {

    /// More than these need a row with a reason.
    static final int MOST_FILES = 20;

    static final int MOST_LINES = 450;
    static final int MOST_CLASSES = 3;

    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

    /// @param folder as the build names it
    /// @param packages the files of each, without `package-info` and `module-info`
    /// @param lines of each file, by its name
    /// @param knots of two classes or more, the largest first; `null` where no class file is at hand
    record Module(
            String folder,
            Map<String, Integer> packages,
            Map<String, Integer> lines,
            @Nullable List<Set<String>> knots) {

        Map.Entry<String, Integer> largestPackage() {
            return largest(packages);
        }

        Map.Entry<String, Integer> largestFile() {
            return largest(lines);
        }

        int largestKnot() {
            return knots == null || knots.isEmpty() ? 0 : knots.getFirst().size();
        }

        private static Map.Entry<String, Integer> largest(Map<String, Integer> all) {
            return all.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
        }
    }

    static House of(Path root) throws IOException {
        List<Module> modules = new ArrayList<>();
        Matcher names = MODULE.matcher(Files.readString(root.resolve("pom.xml")));
        while (names.find()) {
            Path sources = root.resolve(names.group(1)).resolve("src/main/java");
            if (Files.isDirectory(sources)) {
                modules.add(module(root, names.group(1), sources));
            }
        }
        return new House(List.copyOf(modules));
    }

    private static Module module(Path root, String folder, Path sources) throws IOException {
        Map<String, Integer> packages = new TreeMap<>();
        Map<String, Integer> lines = new TreeMap<>();
        for (Path file : files(sources, ".java")) {
            String name = file.getFileName().toString();
            if (!name.endsWith("-info.java")) {
                packages.merge(
                        sources.relativize(file.getParent()).toString().replace(File.separatorChar, '.'),
                        1,
                        Integer::sum);
                lines.merge(name.replace(".java", ""), Files.readAllLines(file).size(), Math::max);
            }
        }
        return new Module(folder, packages, lines, knots(root.resolve(folder)));
    }

    private static @Nullable List<Set<String>> knots(Path module) throws IOException {
        String target = module.toRealPath().resolve("target") + File.separator;
        boolean isAtHand = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .anyMatch(entry -> entry.startsWith(target));
        if (!isAtHand) {
            return null;
        }
        return Knots.of(files(module.resolve("target/classes"), ".class").stream()
                .filter(file -> !file.endsWith("module-info.class"))
                .map(House::bytes)
                .toList());
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).sorted().toList();
        }
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /// The table of modules, as documentation shows it: lines are rounded up to the next 50.
    List<String> table() {
        List<String> rows = new ArrayList<>(List.of(
                "| module | packages | files | largest package | largest file, lines | largest knot |",
                "|---|---|---|---|---|---|"));
        for (Module each : modules) {
            rows.add("| `%s` | %d | %d | `%s` %d | `%s` %d | %s |"
                    .formatted(
                            each.folder(),
                            each.packages().size(),
                            each.lines().size(),
                            each.largestPackage().getKey(),
                            each.largestPackage().getValue(),
                            each.largestFile().getKey(),
                            (each.largestFile().getValue() + 49) / 50 * 50,
                            each.knots() == null ? "not looked at" : "" + each.largestKnot()));
        }
        return rows;
    }

    /// What is larger than it should be: `package NAME`, `file MODULE/NAME` or `knot MODULE`, with its size.
    Map<String, Integer> beyond() {
        Map<String, Integer> found = new TreeMap<>();
        for (Module each : modules) {
            each.packages().forEach((name, files) -> {
                if (files > MOST_FILES) {
                    found.put("package " + each.folder() + " " + name, files);
                }
            });
            each.lines().forEach((name, count) -> {
                if (count > MOST_LINES) {
                    found.put("file " + each.folder() + " " + name, count);
                }
            });
            if (each.largestKnot() > MOST_CLASSES) {
                found.put("knot " + each.folder(), each.largestKnot());
            }
        }
        return found;
    }

    /// The figures of the whole house in one line.
    String line(int missing) {
        return "architecture: modules=%d packages=%d largest-package=%d largest-file=%d largest-knot=%d rows-missing=%d"
                .formatted(
                        modules.size(),
                        modules.stream()
                                .mapToInt(each -> each.packages().size())
                                .sum(),
                        most(each -> each.largestPackage().getValue()),
                        most(each -> each.largestFile().getValue()),
                        most(Module::largestKnot),
                        missing);
    }

    private int most(ToIntFunction<Module> figure) {
        return modules.stream().mapToInt(figure).max().orElse(0);
    }
}
