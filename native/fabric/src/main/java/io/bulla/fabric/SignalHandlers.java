// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.locks.ReentrantLock;

/// The process's signal handlers, as they were before a provider was opened. The JVM finds null by SIGSEGV, and
/// ends in order by SIGTERM; `shm` takes both with its first endpoint, and some libraries take them when they
/// are loaded.
///
/// Between the provider's step and this one's, a null that another thread meets still goes to the provider.
final class SignalHandlers {

    private static final int SIGNALS = 31;
    /// More than any C library's `struct sigaction` has.
    private static final long ACTION_BYTES = 256;
    private static final MethodHandle SIGACTION = sigaction();
    // one thread at a time: another's would be taken for the process's own
    private static final ReentrantLock ONE = new ReentrantLock();

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment before = arena.allocate(SIGNALS * ACTION_BYTES, 8);

    private SignalHandlers() {}

    /// Notes the handlers that there are; [#restore()] follows.
    static SignalHandlers keep() {
        ONE.lock();
        boolean kept = false;
        try {
            SignalHandlers handlers = new SignalHandlers();
            for (int signal = 1; signal <= SIGNALS; signal++) {
                change(signal, MemorySegment.NULL, handlers.of(signal));
            }
            kept = true;
            return handlers;
        } finally {
            if (!kept) {
                ONE.unlock();
            }
        }
    }

    /// Brings back what was changed since.
    void restore() {
        try {
            MemorySegment now = arena.allocate(ACTION_BYTES, 8);
            for (int signal = 1; signal <= SIGNALS; signal++) {
                change(signal, MemorySegment.NULL, now);
                if (now.get(JAVA_LONG, 0) != of(signal).get(JAVA_LONG, 0)) {
                    change(signal, of(signal), MemorySegment.NULL);
                }
            }
        } finally {
            ONE.unlock();
            arena.close();
        }
    }

    /// The present handler of a signal.
    ///
    /// @return an address; 0 for the system's own handling
    static long handlerOf(int signal) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment now = arena.allocate(ACTION_BYTES, 8);
            change(signal, MemorySegment.NULL, now);
            return now.get(JAVA_LONG, 0);
        }
    }

    private MemorySegment of(int signal) {
        return before.asSlice((signal - 1) * ACTION_BYTES, ACTION_BYTES);
    }

    private static void change(int signal, MemorySegment to, MemorySegment old) {
        try {
            // it refuses those that no process can handle, and nothing else
            int ignored = (int) SIGACTION.invokeExact(signal, to, old);
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    // restricted: what this module is for
    @SuppressWarnings("restricted")
    private static MethodHandle sigaction() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("sigaction"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    }
}
