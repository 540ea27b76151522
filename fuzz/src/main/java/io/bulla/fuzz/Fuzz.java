// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import io.bulla.pack.EnvelopeFuzz;
import io.bulla.pack.ExplainFuzz;
import io.bulla.pack.UnpackerFuzz;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.ConnectionFuzz;
import io.bulla.runtime.oob.FrameFuzz;
import io.bulla.runtime.oob.HelloFuzz;
import io.bulla.runtime.pmix.PmixFuzz;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/// The entry for Jazzer: runs an input and some siblings of it, and watches what each costs.
///
/// A finding is whatever a target throws; more heap than the target claims; memory that was not given back; and
/// more time than [#SLOW_NANOS] of the processor. Limits of cost are judged on a repetition, for the first time a
/// path is taken the virtual machine itself allocates.
public final class Fuzz {

    /// The most time an input may take, in nanoseconds of the processor.
    public static final long SLOW_NANOS = 50_000_000;

    /// More of them would cost the fuzzer its guidance: a sibling that finds new code is found again only by
    /// way of its origin.
    private static final int SIBLINGS = 3;
    private static final int ATTEMPTS = 4;
    private static final long REPORT_NANOS = 60_000_000_000L;

    private static Fuzz shared;

    private final ExactMemory memory = new ExactMemory();
    private final List<FuzzTarget> targets;
    private final long[] inputs;
    private final long[] nanos;
    private final long[] found;
    private final Mutator mutator = new Mutator();
    private long nextReport;

    /// Over all targets.
    public Fuzz() {
        this(null);
    }

    Fuzz(FuzzTarget only) {
        targets = only == null ? all(memory) : List.of(only);
        inputs = new long[targets.size()];
        nanos = new long[targets.size()];
        found = new long[targets.size()];
        nextReport = System.nanoTime() + REPORT_NANOS;
    }

    private static List<FuzzTarget> all(ExactMemory memory) {
        List<FuzzTarget> targets = new ArrayList<>();
        for (WireFormat format : WireFormat.values()) {
            targets.add(new UnpackerFuzz(format, memory));
        }
        targets.add(new ExplainFuzz(memory));
        targets.add(new EnvelopeFuzz(memory));
        targets.add(new FrameFuzz());
        targets.add(new HelloFuzz(memory));
        targets.add(new ConnectionFuzz(memory));
        targets.add(new PmixFuzz(memory));
        return targets;
    }

    /// Called once by Jazzer.
    public static void fuzzerInitialize() {
        shared = new Fuzz();
    }

    /// Called by Jazzer for each of its inputs.
    ///
    /// @param bytes the input
    public static void fuzzerTestOneInput(byte[] bytes) {
        if (bytes.length >= FuzzInput.HEADER) {
            shared.family(new FuzzInput(bytes));
        }
    }

    /// Called by Jazzer at the end, also after a finding.
    public static void fuzzerTearDown() {
        shared.report();
    }

    /// Runs an input and its siblings.
    ///
    /// @param input the first of the family
    /// @throws AssertionError if one of them is a finding, with the input
    public void family(FuzzInput input) {
        one(input);
        mutator.begin(input);
        for (int i = 0; i < SIBLINGS; i++) {
            one(mutator.next(input));
        }
        if (System.nanoTime() - nextReport > 0) {
            nextReport += REPORT_NANOS;
            reportAll();
        }
    }

    /// Runs one input.
    ///
    /// @param input what to do
    /// @throws AssertionError if it is a finding
    public void one(FuzzInput input) {
        int which = input.choice(0, targets.size());
        FuzzTarget target = targets.get(which);
        long start = System.nanoTime();
        try {
            run(target, input);
        } catch (Throwable failure) {
            found[which]++;
            throw new AssertionError(
                    "finding: target=" + target.name() + " input=" + input + " what=" + failure, failure);
        } finally {
            inputs[which]++;
            nanos[which] += System.nanoTime() - start;
        }
    }

    private void run(FuzzTarget target, FuzzInput input) {
        for (int attempt = 1; ; attempt++) {
            try {
                long start = System.nanoTime();
                target.run(input);
                // the clock on the wall first: that of the processor is a system call
                if (System.nanoTime() - start <= SLOW_NANOS || processorNanos(target, input) <= SLOW_NANOS) {
                    break;
                }
                FuzzTarget.claim(attempt < ATTEMPTS, "slow", SLOW_NANOS);
            } catch (Heap.OverLimit once) {
                if (attempt == ATTEMPTS) {
                    throw once;
                }
            }
        }
        FuzzTarget.claim(memory.open() == 0, "memory not given back", memory.open());
    }

    private static long processorNanos(FuzzTarget target, FuzzInput input) {
        long start = Heap.processorNanos();
        target.run(input);
        return Heap.processorNanos() - start;
    }

    /// Inputs run so far.
    ///
    /// @return a number that only grows
    public long inputs() {
        return LongStream.of(inputs).sum();
    }

    /// Prints a line for each target.
    public void report() {
        for (int i = 0; i < targets.size(); i++) {
            System.out.printf(
                    Locale.ROOT,
                    "fuzz %-34s inputs=%-10d findings=%-3d seconds=%.1f%n",
                    targets.get(i).name(),
                    inputs[i],
                    found[i],
                    nanos[i] / 1e9);
        }
        reportAll();
    }

    private void reportAll() {
        System.out.printf(
                Locale.ROOT,
                "fuzz %-34s inputs=%-10d findings=%-3d seconds=%.1f%n",
                "all",
                inputs(),
                LongStream.of(found).sum(),
                LongStream.of(nanos).sum() / 1e9);
    }
}
