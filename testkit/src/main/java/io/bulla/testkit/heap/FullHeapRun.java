// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.heap;

import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultRun;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.internal.Ballast;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/// Public operations while the heap is full, as [FaultRun#onFullHeap] fills it: each on its own way, from its own
/// moment on. It needs a JVM of its own, of 16 to 64 MiB, which [#check] starts.
public final class FullHeapRun {

    private static final long HANGS_SECONDS = 900;
    // the program's status if it found nothing to run
    private static final int NONE = 2;

    private FullHeapRun() {}

    /// The program of that JVM:
    /// `--calls CLASS [--area NAME] [--seed N] [--seconds S] [--operations N] [--operation PART]`.
    ///
    /// The class has a static method `all()` without parameters, which gives a [FaultCatalogue], or several in a
    /// collection. Exits with 1 if a promise was broken, and says how to run that operation again; with 2 if there
    /// is no operation of such a name.
    ///
    /// @param arguments as above
    /// @throws ReflectiveOperationException if there is no such method
    public static void main(String... arguments) throws ReflectiveOperationException {
        String calls = "";
        String area = "heap";
        long seed = System.nanoTime();
        long seconds = 3600;
        int most = Integer.MAX_VALUE;
        String part = "";
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            switch (arguments[i]) {
                case "--calls" -> calls = arguments[i + 1];
                case "--area" -> area = arguments[i + 1];
                case "--seed" -> seed = Long.parseLong(arguments[i + 1]);
                case "--seconds" -> seconds = Long.parseLong(arguments[i + 1]);
                case "--operations" -> most = Integer.parseInt(arguments[i + 1]);
                case "--operation" -> part = arguments[i + 1];
                default -> throw new IllegalArgumentException("unknown option: " + arguments[i]);
            }
        }
        System.exit(run(calls, area, seed, seconds, most, part));
    }

    /// Runs the operations of a class in a JVM of its own, and prints what that says.
    ///
    /// @param calls has a static method `all()`, as above
    /// @param area for the report
    /// @param megabytes heap of that JVM
    /// @param seed the same one fills the heap at the same moments
    /// @param seconds after which no further operation begins; the first one does
    /// @param operation a part of the names of those that are run, perhaps empty
    /// @throws AssertionError with the output, if a promise was broken; with the stacks, if an operation hangs; if
    ///     no operation has such a name
    /// @throws IOException if there can be no such JVM
    /// @throws InterruptedException if the wait for it is interrupted
    public static void check(Class<?> calls, String area, int megabytes, long seed, long seconds, String operation)
            throws IOException, InterruptedException {
        check(
                calls,
                area,
                megabytes,
                seed,
                seconds,
                Integer.MAX_VALUE,
                operation,
                program -> program.waitFor(seconds + HANGS_SECONDS, TimeUnit.SECONDS));
    }

    /// As [#check], of one operation in each of several JVMs: what a failure needs for the first time in its process,
    /// a class or a call that is linked, takes heap, too.
    ///
    /// @param calls has a static method `all()`, as above
    /// @param area for the report
    /// @param megabytes heap of each JVM
    /// @param seed of the first JVM; the next one's is one more
    /// @param programs so many JVMs, of a second or two each
    /// @param operation a part of the names of those that are run, perhaps empty
    /// @throws AssertionError as [#check] does
    /// @throws IOException if there can be no such JVM
    /// @throws InterruptedException if the wait for one is interrupted
    public static void checkFirst(Class<?> calls, String area, int megabytes, long seed, int programs, String operation)
            throws IOException, InterruptedException {
        for (int program = 0; program < programs; program++) {
            check(
                    calls,
                    area,
                    megabytes,
                    seed + program,
                    1,
                    1,
                    operation,
                    each -> each.waitFor(HANGS_SECONDS, TimeUnit.SECONDS));
        }
    }

    /// How that JVM is waited for.
    interface Patience {

        /// @return false if an operation hangs
        boolean waitFor(Process program) throws IOException, InterruptedException;
    }

    static void check(
            Class<?> calls,
            String area,
            int megabytes,
            long seed,
            long seconds,
            int operations,
            String operation,
            Patience patience)
            throws IOException, InterruptedException {
        Path said = Files.createTempFile("bulla-full-heap", ".txt");
        try {
            Process program = new ProcessBuilder(
                            inJdk("java"),
                            "-XX:+UseSerialGC",
                            "-Xmx" + megabytes + "m",
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            classPath(calls),
                            FullHeapRun.class.getName(),
                            "--calls",
                            calls.getName(),
                            "--area",
                            area,
                            "--seed",
                            Long.toString(seed),
                            "--seconds",
                            Long.toString(seconds),
                            "--operations",
                            Integer.toString(operations),
                            "--operation",
                            operation)
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
            try {
                if (!patience.waitFor(program)) {
                    throw new AssertionError("an operation hangs on a full heap: seed=" + seed + " operation="
                            + operation + "\n" + Files.readString(said) + stacks(program));
                }
            } finally {
                program.destroyForcibly();
            }
            if (program.exitValue() == NONE) {
                throw new AssertionError(
                        "no operation has such a name: operation=" + operation + " calls=" + calls.getName());
            }
            if (program.exitValue() != 0) {
                throw new AssertionError("a promise was broken on a full heap: status=" + program.exitValue() + "\n"
                        + Files.readString(said));
            }
            System.out.print(Files.readString(said));
        } finally {
            Files.delete(said);
        }
    }

    private static String inJdk(String program) {
        return Path.of(System.getProperty("java.home"), "bin", program).toString();
    }

    /// What its threads do.
    static String stacks(Process program) throws IOException {
        Process asks = new ProcessBuilder(inJdk("jcmd"), Long.toString(program.pid()), "Thread.print")
                .redirectErrorStream(true)
                .start();
        return new String(asks.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /// Where the class is, which may have been put into a module, and whatever it runs on, be it modules or not.
    private static String classPath(Class<?> calls) {
        String name = calls.getName();
        try {
            Path root = Path.of(
                    Objects.requireNonNull(calls.getResource(name.substring(name.lastIndexOf('.') + 1) + ".class"))
                            .toURI());
            for (int dots = name.split("\\.").length; dots > 0; dots--) {
                root = Objects.requireNonNull(root.getParent());
            }
            return String.join(
                    File.pathSeparator,
                    root.toString(),
                    System.getProperty("jdk.module.path", ""),
                    System.getProperty("java.class.path", ""));
        } catch (URISyntaxException noPath) {
            throw new IllegalArgumentException("a class without a file: " + name, noPath);
        }
    }

    /// @return the program's status
    private static int run(String calls, String area, long seed, long seconds, int most, String part)
            throws ReflectiveOperationException {
        Ballast.rehearse();
        FaultRun run = new FaultRun(area);
        long end = System.nanoTime() + seconds * 1_000_000_000;
        int begun = 0;
        for (Map.Entry<String, List<Operation>> one : shuffled(calls, seed)) {
            // one at least, whatever the machine does meanwhile
            boolean isTime = begun == 0 || System.nanoTime() < end;
            if (one.getKey().contains(part) && begun < most && isTime) {
                begun++;
                int before = run.report().violations().size();
                run.onFullHeap(one.getKey(), one.getValue(), seed);
                // at once, for this JVM may not live to its end
                run.report().violations().stream()
                        .skip(before)
                        .forEach(violation -> System.out.println("  violation " + violation + "\n    replay: -Xmx"
                                + (Runtime.getRuntime().maxMemory() >> 20) + "m FullHeapRun --calls " + calls
                                + " --seed " + seed + " --operation '" + one.getKey() + "'"));
            }
        }
        System.out.println(run.report().line());
        if (begun == 0) {
            return NONE;
        }
        return run.report().violations().isEmpty() ? 0 : 1;
    }

    private static List<Map.Entry<String, List<Operation>>> shuffled(String calls, long seed)
            throws ReflectiveOperationException {
        Method all = Class.forName(calls).getDeclaredMethod("all");
        all.setAccessible(true);
        Object catalogues = all.invoke(null);
        List<Map.Entry<String, List<Operation>>> operations = new ArrayList<>();
        for (Object each : catalogues instanceof Collection<?> several ? several : List.of(catalogues)) {
            operations.addAll(((FaultCatalogue) each).runs().entrySet());
        }
        Collections.shuffle(operations, new Random(seed));
        return operations;
    }
}
