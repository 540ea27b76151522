// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import java.io.File;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/// Measures what repetitions leave behind: heap after a collection, open handles, descriptors and threads, before and
/// after. It waits for what settles a moment later; no verdict hangs on how long that takes.
public final class Slope {

    /// Repetitions from one number to before another.
    public interface Repetitions {

        /// Does them.
        ///
        /// @param from first
        /// @param to behind the last
        /// @throws Exception that ends the siege
        void run(long from, long to) throws Exception;
    }

    private static final long BYTES_EACH = 8;
    private static final long BYTES_IN_ALL = 192 << 10;
    private static final int COUNTS = 8;
    private static final int LOOKS = 40;
    private static final long PAUSE_NANOS = 250_000_000;
    private static final long CLEANER_NANOS = 100_000_000;
    private static final long STILL_BYTES = 8 << 10;

    private record Reading(long heap, long handles, long descriptors, long threads) {

        static Reading now(LongSupplier handles) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            String[] open = new File("/proc/self/fd").list();
            return new Reading(
                    runtime.totalMemory() - runtime.freeMemory(),
                    handles.getAsLong(),
                    open == null ? 0 : open.length,
                    ManagementFactory.getThreadMXBean().getThreadCount());
        }

        /// When what was there before has gone: else its end would hide what comes.
        static Reading still(LongSupplier handles) {
            Reading last = now(handles);
            for (int look = 0; look < LOOKS; look++) {
                LockSupport.parkNanos(PAUSE_NANOS / 2);
                Reading next = now(handles);
                if (last.heap - next.heap < STILL_BYTES) {
                    return next;
                }
                last = next;
            }
            return last;
        }

        boolean isFlat(Reading before, long repetitions) {
            return heap - before.heap < BYTES_EACH * repetitions + BYTES_IN_ALL
                    && handles - before.handles < COUNTS
                    && descriptors - before.descriptors < COUNTS
                    && threads - before.threads < COUNTS;
        }
    }

    private final PrintStream out;
    private int kinds;
    private long repetitions;
    private int violations;

    /// Nothing measured yet.
    ///
    /// @param out gets a line for each kind
    public Slope(PrintStream out) {
        this.out = out;
    }

    /// Measures one kind, after a quarter of the repetitions that count for nothing.
    ///
    /// @param name of the kind
    /// @param many repetitions
    /// @param settles whether what is left may go a moment later, as connections do; else a flood is seen, too
    /// @param handles open now
    /// @param each does them
    /// @throws Exception of `each`
    public void measure(String name, long many, boolean settles, LongSupplier handles, Repetitions each)
            throws Exception {
        long warm = Math.max(1, many / 4);
        each.run(0, warm);
        Reading before = Reading.still(handles);
        Reading after = repeated(warm, many, settles, handles, each, before);
        if (!after.isFlat(before, many)) {
            // what rises for each repetition rises a second time; what a library takes once does not
            before = Reading.still(handles);
            after = repeated(warm + many, many, settles, handles, each, before);
        }
        boolean flat = after.isFlat(before, many);
        kinds++;
        repetitions += many;
        violations += flat ? 0 : 1;
        out.printf(
                "siege: kind=\"%s\" repetitions=%d heap=%+d handles=%+d descriptors=%+d threads=%+d slope=%s%n",
                name,
                many,
                after.heap - before.heap,
                after.handles - before.handles,
                after.descriptors - before.descriptors,
                after.threads - before.threads,
                flat ? "flat" : "RISES");
    }

    private static Reading repeated(
            long from, long many, boolean settles, LongSupplier handles, Repetitions each, Reading before)
            throws Exception {
        each.run(from, from + many);
        Reading after = Reading.now(handles);
        for (int look = 0; look < (settles ? LOOKS : 2) && !after.isFlat(before, many); look++) {
            // what cleaners free is free a moment after the collection
            LockSupport.parkNanos(settles ? PAUSE_NANOS : CLEANER_NANOS);
            after = Reading.now(handles);
        }
        return after;
    }

    /// A kind that could not be measured.
    ///
    /// @param name of the kind
    /// @param failure why
    public void failed(String name, Throwable failure) {
        kinds++;
        violations++;
        out.println("siege: kind=\"" + name + "\" failed: " + failure);
    }

    /// Kinds whose slope rises, or that could not be measured.
    ///
    /// @return 0 if all are flat
    public int violations() {
        return violations;
    }

    /// The last line.
    public void end() {
        out.println("siege: kinds=" + kinds + " repetitions=" + repetitions + " slopes="
                + (violations == 0 ? "flat" : "rising") + " violations=" + violations);
    }
}
