// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.mutants;

import io.bulla.cli.LedgerCheck;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/// One mutant: compiled alone, before all other classes on a class path of its own, and run against its tests.
final class Trial {

    private static final long STRESS_NANOS = 8_000_000_000L;

    // tests that passed without any mutant in this process
    private static final Set<String> GREEN = ConcurrentHashMap.newKeySet();

    private final Path root;
    private final Mutant mutant;
    private final Path classes;

    Trial(Path root, Mutant mutant) throws IOException {
        this.root = root;
        this.mutant = mutant;
        this.classes = Files.createTempDirectory("mutant");
    }

    /// A line that starts with `killed`, `hidden` or `ALIVE`.
    String verdict() throws Exception {
        try {
            String refused = compile();
            if (refused != null) {
                return "ALIVE: does not compile: " + refused.replace('\n', ' ');
            }
            return mutant.twins().isEmpty() ? tested() : hidden();
        } finally {
            delete();
        }
    }

    private String compile() throws IOException {
        String text = mutant.applied(Files.readString(root.resolve(mutant.source())));
        Path source = classes.resolve("src").resolve(mutant.source().getFileName());
        Files.createDirectories(source.getParent());
        Files.writeString(source, text);
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        var said = new StringWriter();
        var options = List.of("-nowarn", "-proc:none", "-d", classes.toString(), "-cp", classPath());
        try (var files = javac.getStandardFileManager(null, null, null)) {
            boolean done = javac.getTask(said, files, null, options, null, files.getJavaFileObjects(source))
                    .call();
            return done ? null : said.toString();
        }
    }

    // the ledger sees the change, and the litmus twin what it would do
    private String hidden() {
        List<String> differences = LedgerCheck.differences(root, mutant.source(), classes);
        for (String twin : mutant.twins()) {
            if (!Files.exists(root.resolve("stress/litmus/" + twin + ".weakened.litmus"))) {
                return "ALIVE: no such twin: " + twin;
            }
        }
        return differences.isEmpty()
                ? "ALIVE: the ledger does not see it"
                : "hidden: " + differences.getFirst() + "; twin " + String.join(" ", mutant.twins());
    }

    private String tested() throws Exception {
        try (var mutated = new URLClassLoader(urls(true), Trial.class.getClassLoader())) {
            for (String test : mutant.tests()) {
                String failure = failure(test, mutated);
                if (failure != null) {
                    return isGreen(test)
                            ? "killed: " + test + ": "
                                    + failure.lines().findFirst().orElse("")
                            : "ALIVE: red without the mutant too: " + test;
                }
            }
        }
        return "ALIVE: green: " + String.join(" ", mutant.tests());
    }

    // a test that fails of itself has seen nothing
    private boolean isGreen(String test) throws Exception {
        if (!GREEN.contains(test)) {
            try (var sources = new URLClassLoader(urls(false), Trial.class.getClassLoader())) {
                if (failure(test, sources) != null) {
                    return false;
                }
            }
            GREEN.add(test);
        }
        return true;
    }

    private static String failure(String test, ClassLoader loader) throws Exception {
        Thread.currentThread().setContextClassLoader(loader);
        return test.startsWith("stress:")
                ? new StressLoop(Class.forName("io.bulla." + test.substring(7), true, loader)).run(STRESS_NANOS)
                : junit(test, loader);
    }

    private static String junit(String test, ClassLoader loader) throws ClassNotFoundException {
        int hash = test.indexOf('#');
        Class<?> type = Class.forName("io.bulla." + (hash < 0 ? test : test.substring(0, hash)), true, loader);
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(
                        hash < 0
                                ? DiscoverySelectors.selectClass(type)
                                : DiscoverySelectors.selectMethod(type, test.substring(hash + 1)))
                .filters(EngineFilter.includeEngines("junit-jupiter"))
                .configurationParameter("junit.jupiter.execution.timeout.default", "30s")
                .build();
        Launcher launcher = LauncherFactory.create();
        var listener = new SummaryGeneratingListener();
        launcher.execute(request, listener);
        var summary = listener.getSummary();
        if (summary.getTestsFoundCount() == 0) {
            throw new IllegalStateException("no test in " + test);
        }
        return summary.getFailures().stream()
                .map(f -> f.getTestIdentifier().getDisplayName() + " " + f.getException())
                .findFirst()
                .orElse(null);
    }

    // the class path of the run without the project's own modules, which each trial loads afresh
    private String classPath() {
        return modules()
                        .map(Path::toString)
                        .reduce((a, b) -> a + File.pathSeparator + b)
                        .orElseThrow()
                + File.pathSeparator
                + System.getProperty("java.class.path");
    }

    private URL[] urls(boolean changed) throws IOException {
        var urls = new ArrayList<URL>();
        if (changed) {
            urls.add(classes.toUri().toURL());
        }
        for (Path module : modules().toList()) {
            urls.add(module.toUri().toURL());
        }
        return urls.toArray(URL[]::new);
    }

    private Stream<Path> modules() {
        return Stream.concat(Arrays.stream(LedgerCheck.MODULES), Stream.of("stress"))
                .flatMap(module -> Stream.of(
                        root.resolve(module).resolve("target/classes"),
                        root.resolve(module).resolve("target/test-classes")))
                .filter(Files::exists);
    }

    private void delete() throws IOException {
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }
}
