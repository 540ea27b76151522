// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// The memory of the C library, for rivals that copy into it.
public final class CMemory {

    private static final MethodHandle MALLOC =
            downcall("malloc", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle FREE = downcall("free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    private static final int M_TRIM_THRESHOLD = -1;
    private static final int M_MMAP_THRESHOLD = -3;
    private static final int DEFAULT_THRESHOLD = 128 << 10;

    private CMemory() {}

    private static MethodHandle downcall(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }

    /// Neither zeroed nor watched by anybody.
    public static MemorySegment malloc(long bytes) {
        try {
            return ((MemorySegment) MALLOC.invokeExact(bytes)).reinterpret(bytes);
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }

    public static void free(MemorySegment memory) {
        try {
            FREE.invokeExact(memory);
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }

    /// Sets glibc's two thresholds to their documented defaults, for good, as a C program finds them at its
    /// start: what a JVM allocates and frees for itself moves them.
    public static void pinThresholds() {
        MethodHandle mallopt = downcall(
                "mallopt", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            int mmap = (int) mallopt.invokeExact(M_MMAP_THRESHOLD, DEFAULT_THRESHOLD);
            int trim = (int) mallopt.invokeExact(M_TRIM_THRESHOLD, DEFAULT_THRESHOLD);
            if (mmap + trim != 2) {
                throw new IllegalStateException("mallopt refused: mmap=" + mmap + " trim=" + trim);
            }
        } catch (RuntimeException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }
}
