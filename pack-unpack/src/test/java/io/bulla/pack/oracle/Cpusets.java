// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// A `pmix_cpuset_t`: who made it, and a bitmap of hwloc, which libpmix needs and so brings along.
final class Cpusets {

    private static final int MOST_TEXT = 4096;

    private final CMemory memory;
    private final long empty;
    private final MethodHandle print;
    private final MethodHandle free;

    Cpusets(CMemory memory) {
        SymbolLookup hwloc = CMemory.library("libhwloc.so.15");
        this.memory = memory;
        this.print = CMemory.function(
                hwloc, "hwloc_bitmap_list_snprintf", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        this.free = CMemory.function(hwloc, "hwloc_bitmap_free", FunctionDescriptor.ofVoid(JAVA_LONG));
        try {
            this.empty = (long) CMemory.function(hwloc, "hwloc_bitmap_alloc", FunctionDescriptor.of(JAVA_LONG))
                    .invokeExact();
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    /// Of an unbound process, or of one bound to nothing: all that C can pack, see [Defects].
    void put(long at, String list) {
        memory.putLong(at, memory.text("hwloc"));
        if (list != null) {
            memory.putLong(at + 8, empty);
        }
    }

    /// The list as hwloc writes it.
    String take(long at) {
        memory.takeText(at);
        long bitmap = memory.getLong(at + 8);
        if (bitmap == 0) {
            return null;
        }
        try {
            long text = memory.allocate(MOST_TEXT);
            int length = (int) print.invokeExact(text, (long) MOST_TEXT, bitmap);
            free.invokeExact(bitmap);
            return length < MOST_TEXT ? memory.getText(text) : "too long";
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }
}
