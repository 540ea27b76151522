// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// What the process has taken of the processors, finer than the hundredths of a second that the JDK tells.
@SuppressWarnings("restricted")
public final class ProcessorTime {

    private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
    private static final long NANOS = 1_000_000_000;
    private static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    private static final MemorySegment TIME = Arena.global().allocate(16, 8);

    private ProcessorTime() {}

    /// All threads of the process, those of the kernel that work for it included.
    public static synchronized long nanos() {
        try {
            if ((int) CLOCK_GETTIME.invokeExact(CLOCK_PROCESS_CPUTIME_ID, TIME) != 0) {
                throw new IllegalStateException("no clock of the process");
            }
            return TIME.get(JAVA_LONG, 0) * NANOS + TIME.get(JAVA_LONG, 8);
        } catch (RuntimeException | Error refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }
}
