// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Changes the protocol on purpose, one change at a time, and tells which seed finds it:
/// `Mutants SUITE ROOT RESULTS [--seeds N] [--shrink] [NAME...]`, where the suite is `oob` or `checkpoint`; of `oob`,
/// kept schedules come first, and without seeds alone. With `--shrink`, which is of `oob`, the schedule of that seed
/// is shrunk, too. A change after which a run never ends is found, and ends this process: exit status 75 asks to be
/// started again, and goes on.
///
/// A file of mutants has blocks, each with a name, a word for those that need not be found and why, and changes:
///
/// ```
/// mutant: name
/// equivalent: why no rule can break
/// source: File.java
/// find: text that stands in it once; more lines, more find
/// with: what stands there instead
/// ```
public final class Mutants {

    private static final int AGAIN = 75;
    private static final int SEEDS = 500;
    private static final Path SIMULATOR = Path.of("checks", "sim");
    private static final long PATIENCE_SECONDS = 900;
    private static final Pattern SEED = Pattern.compile("seed (\\d+): ");
    private static final Pattern SHRUNK = Pattern.compile("; shrunk lines=\\d+->(\\d+) seconds=([\\d.]+)");

    /// Modules that mutants change, and who finds them.
    ///
    /// @param modules of `runtime/`, whose classes are loaded for each mutant, and with them those of the simulator
    /// @param entry has a static `String found(Path root, int seeds)`, which tells what it finds, or `null`
    record Suite(List<String> modules, String entry) {

        static final Suite OOB = new Suite(List.of("oob"), "io.bulla.checks.sim.Sim");
        static final Suite CHECKPOINT =
                new Suite(List.of("checkpoint", "oob"), "io.bulla.checks.sim.checkpoint.CheckpointSim");

        private static Suite of(String name) {
            return name.equals("checkpoint") ? CHECKPOINT : OOB;
        }

        private Path mutants(Path root) {
            return root.resolve(SIMULATOR).resolve("mutants").resolve(modules.getFirst());
        }

        private static Path sources(Path root, String module) {
            return root.resolve(Path.of("runtime", module, "src/main/java/io/bulla/runtime", module));
        }

        /// @return whose source it is
        private String moduleOf(Path root, String source) {
            return modules.stream()
                    .filter(module -> Files.exists(sources(root, module).resolve(source)))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no such source: " + source));
        }

        /// Of the modules, of their tests, and of the simulator.
        private List<Path> classes(Path root) {
            List<Path> folders = new ArrayList<>();
            for (String folder : List.of("classes", "test-classes")) {
                modules.forEach(module -> folders.add(root.resolve(Path.of("runtime", module, "target", folder))));
            }
            folders.add(root.resolve(SIMULATOR).resolve(Path.of("target", "classes")));
            return folders;
        }

        private boolean has(String className) {
            return className.startsWith("io.bulla.checks.sim.")
                    || modules.stream().anyMatch(module -> className.startsWith("io.bulla.runtime." + module + "."));
        }
    }

    private record Change(String source, String find, String with) {

        String applied(String name, String text) {
            int at = text.indexOf(find);
            if (at < 0 || text.indexOf(find, at + 1) >= 0) {
                throw new IllegalStateException("does not apply: mutant=" + name + " source=" + source + " found="
                        + (at < 0 ? "not at all" : "more than once"));
            }
            return text.substring(0, at) + with + text.substring(at + find.length());
        }
    }

    private record Mutant(String name, String equivalent, List<Change> changes) {

        static List<Mutant> all(Path folder) throws IOException {
            List<Mutant> mutants = new ArrayList<>();
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.sorted().toList()) {
                    for (String block : Files.readString(file).strip().split("\n\n+")) {
                        mutants.add(read(block));
                    }
                }
            }
            return mutants;
        }

        private static Mutant read(String block) {
            String name = null;
            String equivalent = null;
            List<Change> changes = new ArrayList<>();
            String source = null;
            List<String> find = new ArrayList<>();
            List<String> with = new ArrayList<>();
            for (String line : (block + "\nsource: end").split("\n")) {
                int colon = line.indexOf(':');
                String value = line.substring(colon + 1).replaceFirst("^ ", "");
                switch (line.substring(0, colon)) {
                    case "mutant" -> name = value;
                    case "equivalent" -> equivalent = value;
                    case "find" -> find.add(value);
                    case "with" -> with.add(value);
                    case "source" -> {
                        if (source != null) {
                            changes.add(new Change(source, String.join("\n", find), String.join("\n", with)));
                        }
                        source = value;
                        find.clear();
                        with.clear();
                    }
                    default -> throw new IllegalArgumentException("not a line of a mutant: " + line);
                }
            }
            return new Mutant(name, equivalent, changes);
        }
    }

    /// The modules' classes, a mutant's before them; everything else is the program's.
    private static final class Loader extends ClassLoader {

        private final Suite suite;
        private final List<Path> folders;

        Loader(Suite suite, List<Path> folders) {
            super(Mutants.class.getClassLoader());
            this.suite = suite;
            this.folders = folders;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : suite.has(name) ? ours(name) : super.loadClass(name, resolve);
            }
        }

        private Class<?> ours(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            for (Path folder : folders) {
                Path found = folder.resolve(file);
                if (Files.exists(found)) {
                    try {
                        byte[] bytes = Files.readAllBytes(found);
                        return defineClass(name, bytes, 0, bytes.length);
                    } catch (IOException cannotRead) {
                        throw new ClassNotFoundException(name, cannotRead);
                    }
                }
            }
            throw new ClassNotFoundException(name);
        }
    }

    private final Suite suite;
    private final Path root;
    private final Path results;
    private final boolean shrinks;
    private final int seeds;

    private Mutants(Suite suite, Path root, Path results, boolean shrinks, int seeds) {
        this.suite = suite;
        this.root = root;
        this.results = results;
        this.shrinks = shrinks;
        this.seeds = seeds;
    }

    public static void main(String[] args) throws Exception {
        Suite suite = Suite.of(args[0]);
        Path root = Path.of(args[1]);
        List<String> names = new ArrayList<>(List.of(args).subList(3, args.length));
        boolean shrinks = names.remove("--shrink");
        int seeds = SEEDS;
        int at = names.indexOf("--seeds");
        if (at >= 0) {
            seeds = Integer.parseInt(names.remove(at + 1));
            names.remove(at);
        }
        List<Mutant> mutants = new ArrayList<>(Mutant.all(suite.mutants(root)));
        mutants.removeIf(mutant -> !names.isEmpty() && !names.contains(mutant.name));
        int status = new Mutants(suite, root, Path.of(args[2]), shrinks, seeds).run(mutants);
        System.out.flush();
        Runtime.getRuntime().halt(status);
    }

    /// Changes whose text no longer stands in the sources, or stands there twice.
    static List<String> thatDoNotApply(Suite suite, Path root) throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Mutant mutant : Mutant.all(suite.mutants(root))) {
            try {
                new Mutants(suite, root, root, false, 0).changed(mutant);
            } catch (IllegalStateException doesNotApply) {
                wrong.add(doesNotApply.getMessage());
            }
        }
        return wrong;
    }

    private int run(List<Mutant> mutants) throws Exception {
        for (Mutant mutant : mutants) {
            if (!seen().containsKey(mutant.name)) {
                String verdict = bounded(mutant);
                String line = mutant.name + " " + verdict.lines().findFirst().orElse("");
                Files.writeString(results, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                System.out.println("  mutant " + line);
                if (verdict.startsWith("found: no end")) {
                    return AGAIN;
                }
            }
        }
        Map<String, String> seen = seen();
        long found = mutants.stream()
                .filter(m -> seen.get(m.name).startsWith("found"))
                .count();
        long equivalent = mutants.stream()
                .filter(m -> seen.get(m.name).startsWith("equivalent"))
                .count();
        long missed = mutants.size() - found - equivalent;
        System.out.println("sim: mutants=" + mutants.size() + " found=" + found + " equivalent=" + equivalent
                + " missed=" + missed);
        if (shrinks) {
            tellShrunk(seen);
        }
        return missed == 0 ? 0 : 1;
    }

    private static void tellShrunk(Map<String, String> seen) {
        int shrunk = 0;
        int mostLines = 0;
        double mostSeconds = 0;
        for (String verdict : seen.values()) {
            Matcher figures = SHRUNK.matcher(verdict);
            if (figures.find()) {
                shrunk++;
                mostLines = Math.max(mostLines, Integer.parseInt(figures.group(1)));
                mostSeconds = Math.max(mostSeconds, Double.parseDouble(figures.group(2)));
            }
        }
        System.out.println(
                "sim: shrunk mutants=" + shrunk + " most-lines=" + mostLines + " most-seconds=" + mostSeconds);
    }

    private Map<String, String> seen() throws IOException {
        Map<String, String> seen = new LinkedHashMap<>();
        if (Files.exists(results)) {
            for (String line : Files.readAllLines(results)) {
                int end = line.indexOf(' ');
                seen.put(line.substring(0, end), line.substring(end + 1));
            }
        }
        return seen;
    }

    private String bounded(Mutant mutant) throws InterruptedException {
        FutureTask<String> verdict = new FutureTask<>(() -> verdict(mutant));
        Thread.ofPlatform().daemon().name("mutant-" + mutant.name).start(verdict);
        try {
            return verdict.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            return "found: no end within " + PATIENCE_SECONDS + " s";
        } catch (ExecutionException e) {
            return "MISSED: " + e.getCause();
        }
    }

    private String verdict(Mutant mutant) throws IOException, InterruptedException, ReflectiveOperationException {
        Path work = Files.createTempDirectory("mutant");
        try {
            compile(mutant, work);
            List<Path> folders = new ArrayList<>(List.of(work));
            folders.addAll(suite.classes(root));
            Class<?> entry = new Loader(suite, folders).loadClass(suite.entry);
            String found = found(entry);
            if (found != null) {
                return "found: " + found.lines().findFirst().orElse("") + (shrinks ? shrunk(entry, found) : "");
            }
            return mutant.equivalent == null
                    ? "MISSED: not in " + seeds + " seeds"
                    : "equivalent: " + mutant.equivalent;
        } finally {
            try (Stream<Path> files = Files.walk(work)) {
                for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private String found(Class<?> entry) throws ReflectiveOperationException {
        try {
            return (String) entry.getMethod("found", Path.class, int.class).invoke(null, root, seeds);
        } catch (InvocationTargetException thrown) {
            return "thrown: " + thrown.getCause();
        }
    }

    /// Of a seed; a kept schedule is short already.
    private static String shrunk(Class<?> entry, String found) throws ReflectiveOperationException {
        Matcher seed = SEED.matcher(found);
        return seed.lookingAt()
                ? "; shrunk " + entry.getMethod("shrunk", long.class).invoke(null, Long.parseLong(seed.group(1)))
                : "";
    }

    /// The sources that a mutant changes.
    private Map<String, String> changed(Mutant mutant) throws IOException {
        Map<String, String> changed = new LinkedHashMap<>();
        for (Change change : mutant.changes) {
            String text = changed.get(change.source);
            if (text == null) {
                text = Files.readString(
                        Suite.sources(root, suite.moduleOf(root, change.source)).resolve(change.source));
            }
            changed.put(change.source, change.applied(mutant.name, text));
        }
        return changed;
    }

    private void compile(Mutant mutant, Path work) throws IOException, InterruptedException {
        List<File> sources = new ArrayList<>();
        for (Map.Entry<String, String> source : changed(mutant).entrySet()) {
            Path file = work.resolve(source.getKey());
            Files.createDirectories(file.getParent());
            Files.writeString(file, source.getValue());
            sources.add(file.toFile());
        }
        List<Path> classes = suite.classes(root);
        String classPath = classes.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator))
                + File.pathSeparator
                + System.getProperty("java.class.path");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "javac").toString(),
                "-nowarn",
                "-proc:none",
                "-d",
                work.toString(),
                "-cp",
                classPath));
        sources.forEach(source -> command.add(source.getPath()));
        Process javac = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(javac.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (javac.waitFor() != 0) {
            throw new IllegalStateException("does not compile: mutant=" + mutant.name + " " + said);
        }
    }
}
