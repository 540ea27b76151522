// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import io.bulla.checks.house.LedgerCheck;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/// Runs tests in this process, each time with classes that are loaded afresh. A test is run without a mutant first:
/// one that fails of itself would see every mutant, and how long it takes says when it hangs.
final class Tests {

    private static final long STRESS_MILLIS = 8_000;
    private static final long STRESS_GREEN_MILLIS = 1_000;
    // a test of a mutant that hangs waits for more than this itself; one that does not takes a fraction of it
    private static final long PATIENCE_MILLIS = 10_000;
    private static final long GREEN_PATIENCE_MILLIS = 1_800_000;
    private static final int PATIENCE_TIMES = 3;

    /// A test that does not end.
    static final class NoEnd extends Exception {

        private static final long serialVersionUID = 1;

        NoEnd(String test, long millis) {
            super(test + ": no end within " + millis + " ms", null, false, false);
        }
    }

    private final Path root;
    private final Path greens;
    // how long each took without a mutant; -1 if it failed
    private final Map<String, Long> green = new HashMap<>();

    /// @param greens keeps what is known of tests without a mutant, for the next process
    Tests(Path root, Path greens) throws IOException {
        this.root = root;
        this.greens = greens;
        if (Files.exists(greens)) {
            for (String line : Files.readAllLines(greens)) {
                int end = line.indexOf(' ');
                green.put(line.substring(0, end), Long.parseLong(line.substring(end + 1)));
            }
        }
    }

    /// What a test says without any mutant, `null` if it passes.
    String failureWithout(String test) throws Exception {
        if (!green.containsKey(test)) {
            long begun = System.nanoTime();
            String failure = run(test, null, STRESS_GREEN_MILLIS, GREEN_PATIENCE_MILLIS);
            if (failure != null) {
                return failure;
            }
            long millis = (System.nanoTime() - begun) / 1_000_000;
            green.put(test, millis);
            Files.writeString(greens, test + " " + millis + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        return null;
    }

    /// What was known of a test without any mutant: the machine may be a slower one now.
    void forget(String test) {
        green.remove(test);
    }

    /// What a test says of a mutant, `null` if it passes.
    ///
    /// @param mutated folder of the mutant's classes
    /// @param looks how many times as long as usual a stress program may look
    /// @throws NoEnd if it takes many times as long as without the mutant
    String failure(String test, Path mutated, int looks) throws Exception {
        long stress = looks * STRESS_MILLIS;
        return run(test, mutated, stress, PATIENCE_MILLIS + stress + PATIENCE_TIMES * green.get(test));
    }

    static boolean isStress(String test) {
        return test.startsWith("stress:");
    }

    private String run(String test, Path mutated, long stressMillis, long patienceMillis) throws Exception {
        var loader = new URLClassLoader(urls(test, mutated), Tests.class.getClassLoader());
        var failure = new FutureTask<>(() -> isStress(test)
                ? new StressLoop(Class.forName("io.bulla." + test.substring(7), true, loader))
                        .run(stressMillis * 1_000_000)
                : junit(test, loader));
        Thread thread = Thread.ofPlatform().daemon().name(test).unstarted(failure);
        thread.setContextClassLoader(loader);
        thread.start();
        try {
            return failure.get(patienceMillis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } catch (TimeoutException e) {
            throw new NoEnd(test.contains("#") || isStress(test) ? test : test + Running.method, patienceMillis);
        }
    }

    private static String junit(String test, ClassLoader loader) throws ClassNotFoundException {
        int hash = test.indexOf('#');
        Class<?> type = Class.forName("io.bulla." + (hash < 0 ? test : test.substring(0, hash)), true, loader);
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(
                        hash < 0
                                ? DiscoverySelectors.selectClass(type)
                                : DiscoverySelectors.selectMethod(type, method(type, test.substring(hash + 1))))
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("jqwik.database", "")
                .build();
        var listener = new SummaryGeneratingListener();
        SkipAfterFailure.begin();
        LauncherFactory.create().execute(request, listener, new Running());
        var summary = listener.getSummary();
        if (summary.getTestsFoundCount() == 0) {
            throw new IllegalStateException("no test in " + test);
        }
        return summary.getFailures().stream()
                .map(f -> methodOf(f.getTestIdentifier()) + ": " + f.getException())
                .findFirst()
                .orElse(null);
    }

    // of any parameters, and perhaps a contract's
    private static Method method(Class<?> type, String name) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals(name)) {
                    return method;
                }
            }
        }
        throw new IllegalStateException("no such method: " + type.getName() + "#" + name);
    }

    private static String methodOf(TestIdentifier test) {
        return test.getSource().orElse(null) instanceof MethodSource source
                ? "#" + source.getMethodName()
                : " " + test.getDisplayName();
    }

    /// Knows which method a test that does not end is in.
    private static final class Running implements TestExecutionListener {

        private static volatile String method = "";

        @Override
        public void testPlanExecutionStarted(TestPlan plan) {
            method = "";
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            if (test.isTest()) {
                method = methodOf(test);
            }
        }
    }

    private URL[] urls(String test, Path mutated) throws IOException {
        var urls = new ArrayList<URL>();
        if (mutated != null) {
            urls.add(mutated.toUri().toURL());
        }
        for (Path module : modules(root)) {
            // two of them have a class of one name
            if (!isStress(test) || !module.endsWith("test-classes")) {
                urls.add(module.toUri().toURL());
            }
        }
        return urls.toArray(URL[]::new);
    }

    /// The project's own classes, which are on no class path of this process.
    static List<Path> modules(Path root) {
        return Stream.concat(Arrays.stream(LedgerCheck.MODULES), Stream.of("stress"))
                .flatMap(module -> Stream.of(
                        root.resolve(module).resolve("target/classes"),
                        root.resolve(module).resolve("target/test-classes")))
                .filter(Files::exists)
                .toList();
    }
}
