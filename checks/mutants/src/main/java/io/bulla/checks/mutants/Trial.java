// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import io.bulla.checks.house.LedgerCheck;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// One mutant: compiled alone, put before all other classes, and run against its tests, up to the first that fails.
final class Trial {

    private static final int LONGER_LOOK = 4;

    private static final JavaCompiler JAVAC = ToolProvider.getSystemJavaCompiler();
    // kept: it has read the class path
    private static final StandardJavaFileManager FILES = JAVAC.getStandardFileManager(null, null, null);

    /// @param text starts with `killed`, `hidden` or `ALIVE`
    /// @param isDoubtful what mutants before it left behind may be the reason
    /// @param isLate a test came to no end, for the first time: a slow machine may be the reason
    /// @param hasLeftovers the process is of no further use
    record Verdict(String text, boolean isDoubtful, boolean isLate, boolean hasLeftovers) {

        static Verdict sure(String text) {
            return new Verdict(text, false, false, false);
        }
    }

    private final Path root;
    private final Mutant mutant;
    private final Tests tests;
    private final boolean again;
    private final Path folder;
    private final Path classes;

    /// @param again  a test of it came to no end before: each test runs without it first, on the machine as it is now
    Trial(Path root, Mutant mutant, Tests tests, boolean again) throws IOException {
        this.root = root;
        this.mutant = mutant;
        this.tests = tests;
        this.again = again;
        this.folder = Files.createTempDirectory("mutant");
        this.classes = Files.createDirectory(folder.resolve("classes"));
    }

    Verdict verdict() throws IOException {
        try {
            String refused = compile();
            if (refused != null) {
                return Verdict.sure("ALIVE: does not compile: " + refused.replace('\n', ' '));
            }
            return mutant.twins().isEmpty() ? tested() : Verdict.sure(hidden());
        } catch (Exception cannot) {
            return Verdict.sure("ALIVE: " + cannot);
        } finally {
            delete();
        }
    }

    private String compile() throws IOException {
        String text = mutant.applied(Files.readString(root.resolve(mutant.source())));
        Path source = folder.resolve(mutant.source().getFileName());
        Files.writeString(source, text);
        var said = new StringWriter();
        var options = List.of("-nowarn", "-proc:none", "-d", classes.toString(), "-cp", classPath());
        boolean done = JAVAC.getTask(said, FILES, null, options, null, FILES.getJavaFileObjects(source))
                .call();
        return done ? null : said.toString();
    }

    // the ledger sees the change, and the litmus twin what it would do
    private String hidden() {
        List<String> differences = LedgerCheck.differences(root, mutant.source(), classes);
        for (String twin : mutant.twins()) {
            if (!Files.exists(root.resolve("stress/litmus/" + twin + ".weakened.litmus"))) {
                return "ALIVE: no such twin: " + twin;
            }
            if (!LedgerCheck.isTwinOf(root, twin, differences)) {
                return "ALIVE: twin of no claim of the ledger with this code: " + twin + ": " + differences;
            }
        }
        return differences.isEmpty()
                ? "ALIVE: the ledger does not see it"
                : "hidden: " + differences.getFirst() + "; twin " + String.join(" ", mutant.twins());
    }

    private Verdict tested() throws Exception {
        for (String test : mutant.tests()) {
            Verdict killed = look(test, 1);
            if (killed != null) {
                return killed;
            }
        }
        // rare ones on a busy machine
        for (String test : mutant.tests()) {
            Verdict killed = Tests.isStress(test) ? look(test, LONGER_LOOK) : null;
            if (killed != null) {
                return killed;
            }
        }
        return Verdict.sure("ALIVE: green: " + String.join(" ", mutant.tests()));
    }

    private Verdict look(String test, int looks) throws Exception {
        if (again) {
            tests.forget(test);
        }
        String red = tests.failureWithout(test);
        if (red != null) {
            return new Verdict("ALIVE: red without the mutant too: " + test + ": " + red, true, false, true);
        }
        try {
            String failure = tests.failure(test, classes, looks);
            // the heap may have been filled by others
            boolean full = failure != null && failure.contains("OutOfMemoryError");
            return failure == null
                    ? null
                    : new Verdict(
                            "killed: " + killer(test)
                                    + failure.lines().findFirst().orElse(""),
                            full,
                            false,
                            full);
        } catch (Tests.NoEnd late) {
            return new Verdict("killed: " + late.getMessage() + (again ? ", twice" : ""), false, !again, true);
        } catch (Exception | LinkageError failure) {
            // the program did not even start, and without the mutant it does
            boolean full = failure.toString().contains("OutOfMemoryError");
            return new Verdict("killed: " + test + ": " + failure, full, false, full);
        }
    }

    // the failure of a JUnit test begins with its method
    private static String killer(String test) {
        return Tests.isStress(test) ? test + ": " : test.replaceFirst("#.*", "");
    }

    private String classPath() {
        return Tests.modules(root).stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator))
                + File.pathSeparator
                + System.getProperty("java.class.path");
    }

    private void delete() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }
}
