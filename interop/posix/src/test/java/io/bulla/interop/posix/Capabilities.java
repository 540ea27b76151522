package io.bulla.interop.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/// What a thread may do beyond others.
final class Capabilities {

    private static final int VERSION_3 = 0x20080522;
    private static final int CAP_IPC_LOCK = 14;

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

    static long lockedBytes() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/limits")).stream()
                .filter(limit -> limit.startsWith("Max locked memory"))
                .findFirst()
                .orElseThrow();
        String soft = line.trim().split(" {2,}")[1];
        return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
    }
}
