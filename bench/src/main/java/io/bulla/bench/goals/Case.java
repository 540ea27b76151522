// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.numbers.Quartiles;
import io.bulla.bench.oob.Effort;
import io.bulla.bench.programs.ProgramOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/// Something that can be measured again and again, each time in a JVM of its own.
///
/// @param name what stands on the left and on the right of a goal; the same name is the same case
/// @param unit of the number
/// @param meter gives one number, smaller is better
public record Case(String name, String unit, Meter meter) {

    /// How long one measurement takes. The windows are short, so that some of them meet no neighbour.
    public enum Length {
        QUICK(4, 100, 3, 60, 3),
        NORMAL(5, 200, 20, 50, 7);

        final int warmups;
        final TimeValue warmup;
        final int measurements;
        final TimeValue measurement;
        final int starts;

        Length(int warmups, int warmupMillis, int measurements, int measurementMillis, int starts) {
            this.warmups = warmups;
            this.warmup = TimeValue.milliseconds(warmupMillis);
            this.measurements = measurements;
            this.measurement = TimeValue.milliseconds(measurementMillis);
            this.starts = starts;
        }
    }

    /// JMH itself looks at objects by `Unsafe`, and need not say so in every fork.
    private static final String QUIET = "--sun-misc-unsafe-memory-access=allow";

    /// Agrona's own buffers, which are rivals.
    private static final String FOR_AGRONA = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED";

    private static final int OBJECT_ALIGNMENT = 8;
    private static final String TIME = "time";
    private static final String ALLOCATION = "allocation";

    /// By the name of the case: time and allocation are read from the same ones.
    private static final Map<String, SharedRun> FORKS = new HashMap<>();

    /// Something that a case needs is not on this machine.
    static final class Skipped extends Exception {

        private static final long serialVersionUID = 1;

        Skipped(String reason) {
            super(reason);
        }
    }

    interface Meter {
        /// It is going to be measured.
        default void chosen() {}

        double measure(Length length) throws IOException, InterruptedException, RunnerException, Skipped;
    }

    /// One JMH benchmark of average time, in one fork a round.
    ///
    /// @param benchmark class and method
    /// @param params JMH parameters as `name=value`
    public static Case jmh(Class<?> benchmark, String method, int threads, String... params) {
        String name = name(benchmark, method, threads, params);
        return new Case(
                name, "ns", forks(name, benchmark, method, threads, params).reading(TIME));
    }

    /// What one operation of a JMH benchmark allocates on the heap, in the best iteration, to the nearest
    /// multiple of 8 bytes, which every object's size is: the harness allocates too, a byte or so per operation
    /// when iterations are short and the machine is busy. What is allocated in fewer than every fourth
    /// operation does not show. The fork is that of the time.
    ///
    /// @param benchmark class and method
    /// @param params JMH parameters as `name=value`
    static Case jmhAllocation(Class<?> benchmark, String method, String... params) {
        String name = name(benchmark, method, 1, params);
        return new Case(
                name + "-allocation",
                "bytes",
                forks(name, benchmark, method, 1, params).reading(ALLOCATION));
    }

    private static SharedRun forks(String name, Class<?> benchmark, String method, int threads, String... params) {
        return FORKS.computeIfAbsent(
                name,
                _ -> new SharedRun((length, _) -> {
                    List<IterationResult> iterations =
                            fork(benchmark, method, threads, params, length).getIterationResults().stream()
                                    .toList();
                    return Map.of(TIME, time(iterations), ALLOCATION, allocation(iterations));
                }));
    }

    /// The lower quartile of the iterations: on a machine that others use, half of them may have met a neighbour, and
    /// what these take says nothing of the code. None is faster than the code.
    private static double time(List<IterationResult> iterations) {
        return Quartiles.lower(iterations.stream()
                .mapToDouble(iteration -> iteration.getPrimaryResult().getScore())
                .toArray());
    }

    private static double allocation(List<IterationResult> iterations) {
        double least = iterations.stream()
                .map(iteration -> iteration.getSecondaryResults().get("gc.alloc.rate.norm"))
                // the profiler leaves out an iteration in which it saw no operation end
                .filter(Objects::nonNull)
                .mapToDouble(Result::getScore)
                .min()
                .orElseThrow();
        return OBJECT_ALIGNMENT * Math.rint(least / OBJECT_ALIGNMENT);
    }

    /// A program of ours that prints its result as a number, on a line of its own.
    static Case program(String unit, Class<?> main, String... args) {
        return new Case(
                main.getSimpleName() + "[" + String.join(",", args) + "]",
                unit,
                length -> Double.parseDouble(lines(length, main, args).getLast()));
    }

    /// A case of the C program that `bench/run` has built, where there is a compiler: as many windows of the same
    /// length as a JMH benchmark has, and their lower quartile.
    ///
    /// @param argument which case
    static Case c(String argument) {
        return c(CProgram.FORMATS, argument);
    }

    static Case c(CProgram program, String argument) {
        return new Case(
                (program == CProgram.FORMATS ? "c." : program.name().toLowerCase(Locale.ROOT) + ".") + argument,
                program.unit(),
                length -> program.run(
                        argument, length.measurement.convertTo(TimeUnit.MILLISECONDS), length.measurements));
    }

    /// A number that needs no repetition.
    static Case value(String name, String unit, DoubleSupplier value) {
        return new Case(name, unit, _ -> value.getAsDouble());
    }

    /// What must not be passed.
    static Case limit(int limit, String unit) {
        return value("limit-" + limit + unit, unit, () -> limit);
    }

    private static String name(Class<?> benchmark, String method, int threads, String... params) {
        return benchmark.getSimpleName().replace("Benchmark", "") + "." + method
                + (threads == 1 ? "" : "-" + threads + "t")
                + (params.length == 0 ? "" : "[" + String.join(",", params) + "]");
    }

    private static BenchmarkResult fork(Class<?> benchmark, String method, int threads, String[] params, Length length)
            throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + Pattern.quote(benchmark.getName() + "." + method) + "$")
                .threads(threads)
                .forks(1)
                .warmupIterations(length.warmups)
                .warmupTime(length.warmup)
                .measurementIterations(length.measurements)
                .measurementTime(length.measurement)
                .shouldFailOnError(true)
                .jvmArgsAppend(jvmArgs(benchmark))
                .addProfiler(GCProfiler.class)
                .timeUnit(TimeUnit.NANOSECONDS)
                .verbosity(VerboseMode.SILENT);
        for (String param : params) {
            String[] pair = param.split("=", 2);
            options.param(pair[0], pair[1]);
        }
        Collection<RunResult> results = new Runner(options.build()).run();
        return results.iterator().next().getBenchmarkResults().iterator().next();
    }

    /// Ours, and behind them the benchmark's own, which ours would take the place of: a heap that was touched before.
    static String[] jvmArgs(Class<?> benchmark) {
        Fork own = benchmark.getAnnotation(Fork.class);
        return Stream.concat(
                        Stream.of(QUIET, "--enable-native-access=ALL-UNNAMED", FOR_AGRONA),
                        own == null ? Stream.of() : Stream.of(own.jvmArgsAppend()))
                // of one that names none
                .filter(option -> !option.equals(Fork.BLANK_ARGS))
                .distinct()
                .toArray(String[]::new);
    }

    /// Runs a program of ours and returns what it prints.
    static List<String> lines(Class<?> main, String... args) throws IOException, InterruptedException {
        return lines(List.of(), main, args);
    }

    /// The same, for so long.
    static List<String> lines(Length length, Class<?> main, String... args) throws IOException, InterruptedException {
        return lines(List.of("-D" + Effort.PROPERTY + "=" + length), main, args);
    }

    /// The same, with a library that is loaded before all others.
    static List<String> linesUnder(Path library, Class<?> main, String... args)
            throws IOException, InterruptedException {
        return lines(List.of("env", "LD_PRELOAD=" + library), List.of(), main, args);
    }

    private static List<String> lines(List<String> options, Class<?> main, String... args)
            throws IOException, InterruptedException {
        return lines(List.of(), options, main, args);
    }

    private static List<String> lines(List<String> before, List<String> options, Class<?> main, String... args)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                QUIET,
                "--enable-native-access=ALL-UNNAMED",
                FOR_AGRONA,
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(main.getName());
        command.addAll(List.of(args));
        ProgramOutput output = ProgramOutput.of(command);
        if (output.status() != 0 || output.lines().isEmpty()) {
            throw new IOException("program failed: main=" + main.getName() + " status=" + output.status() + " lines="
                    + output.lines().size());
        }
        return output.lines();
    }
}
