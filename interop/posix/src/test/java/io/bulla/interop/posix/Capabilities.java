// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/// What a thread may do, taken from it.
final class Capabilities {

    private static final int VERSION_3 = 0x20080522;
    private static final int CAP_IPC_LOCK = 14;

    private static final int LOAD = 0x20;
    private static final int EQUAL = 0x15;
    private static final int RETURN = 0x06;
    private static final int REFUSE = 0x00050001;
    private static final int ALLOW = 0x7fff0000;
    private static final int FIFTH_ARGUMENT = 48;

    private Capabilities() {}

    /// The calling thread may no longer lock more memory than the limit says.
    static boolean dropIpcLock() throws Throwable {
        MethodHandle capget = Libc.function("capget", JAVA_INT, ADDRESS, ADDRESS);
        MethodHandle capset = Libc.function("capset", JAVA_INT, ADDRESS, ADDRESS);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            MemorySegment header = arena.allocate(8, 4);
            header.set(JAVA_INT, 0, VERSION_3);
            // effective, permitted, inheritable; twice, for 64 of them
            MemorySegment sets = arena.allocate(24, 4);
            int got = (int) capget.invokeExact(errno, header, sets);
            sets.set(JAVA_INT, 0, sets.get(JAVA_INT, 0) & ~(1 << CAP_IPC_LOCK));
            int set = (int) capset.invokeExact(errno, header, sets);
            return got == 0 && set == 0;
        }
    }

    /// The calling thread gets `EPERM` from one system call.
    static boolean forbid(int number) throws Throwable {
        // load the number; if it is this one, EPERM; else allow
        return filter(new int[][] {{LOAD, 0}, {1 << 24 | EQUAL, number}, {RETURN, REFUSE}, {RETURN, ALLOW}});
    }

    /// The calling thread gets `EPERM` for mappings of files; the JVM's own have none.
    static boolean forbidMappingFiles() throws Throwable {
        int mmap = System.getProperty("os.arch").equals("aarch64") ? 222 : 9;
        // load the number; if it is mmap, load the descriptor; if there is one, EPERM; else allow
        return filter(new int[][] {
            {LOAD, 0},
            {3 << 24 | EQUAL, mmap},
            {LOAD, FIFTH_ARGUMENT},
            {1 << 16 | EQUAL, -1},
            {RETURN, REFUSE},
            {RETURN, ALLOW}
        });
    }

    /// @param program of a socket filter over a system call: each instruction's code and jumps, and its operand
    private static boolean filter(int[][] program) throws Throwable {
        MethodHandle prctl = Libc.variadic("prctl", 1, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(JAVA_INT);
            MemorySegment filter = arena.allocate(8L * program.length, 8);
            for (int i = 0; i < program.length; i++) {
                filter.setAtIndex(JAVA_INT, 2L * i, program[i][0]);
                filter.setAtIndex(JAVA_INT, 2L * i + 1, program[i][1]);
            }
            MemorySegment all = arena.allocate(16, 8);
            all.set(JAVA_INT, 0, program.length);
            all.set(JAVA_LONG, 8, filter.address());
            int noPrivileges = (int) prctl.invokeExact(errno, 38, 1L, 0L, 0L, 0L);
            int filtered = (int) prctl.invokeExact(errno, 22, 2L, all.address(), 0L, 0L);
            return noPrivileges == 0 && filtered == 0;
        }
    }

    static long lockedBytes() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/limits")).stream()
                .filter(limit -> limit.startsWith("Max locked memory"))
                .findFirst()
                .orElseThrow();
        String soft = line.trim().split(" {2,}")[1];
        return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
    }
}
