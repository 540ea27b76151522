// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricProvider;
import io.bulla.pool.device.Peer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// What a process is before libfabric is loaded and after every provider was opened: the first bytes of the functions
/// that allocators' hooks rewrite, the handlers of signals, and whether null is found.
@SuppressWarnings("restricted")
final class Loading {

    private static final List<String> REWRITTEN_ELSEWHERE =
            List.of("mmap", "munmap", "mremap", "madvise", "brk", "sbrk", "shmat", "shmdt");
    private static final int FIRST_BYTES = 16;
    private static final int SIGNALS = 31;
    private static final long ACTION_BYTES = 256;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle SIGACTION = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("sigaction"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

    private final boolean loadedBefore;
    private final List<String> functions = functions();
    private final List<Long> handlers = handlers();

    /// Notes what there is. To be made before anything of a fabric is used.
    Loading() throws IOException {
        loadedBefore = isLoaded();
    }

    /// Opens every provider, with an endpoint, and compares.
    boolean leavesTheProcessAsItWas() throws Exception {
        for (FabricProvider each : FabricProvider.all()) {
            try (FabricDomain domain = FabricDomain.open(each.name())) {
                domain.endpoint(new Peer(1, "peer"));
            }
        }
        int functionsChanged = differences(functions, functions());
        int handlersChanged = differences(handlers, handlers());
        boolean found = isNullFound();
        System.out.println("load: loaded-before=" + loadedBefore + " loaded-after=" + isLoaded() + " functions="
                + functions.size() + " changed=" + functionsChanged + " handlers=" + SIGNALS + " changed="
                + handlersChanged + " null-is-found=" + found);
        return !loadedBefore && isLoaded() && functionsChanged == 0 && handlersChanged == 0 && found;
    }

    private static int differences(List<?> before, List<?> after) {
        return (int) IntStream.range(0, before.size())
                .filter(i -> !before.get(i).equals(after.get(i)))
                .count();
    }

    private static boolean isLoaded() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.anyMatch(line -> line.contains("libfabric"));
        }
    }

    private static List<String> functions() {
        return REWRITTEN_ELSEWHERE.stream()
                .map(name -> LINKER.defaultLookup().findOrThrow(name).reinterpret(FIRST_BYTES))
                .map(code -> HexFormat.of().formatHex(code.toArray(JAVA_BYTE)))
                .toList();
    }

    private static List<Long> handlers() {
        return IntStream.rangeClosed(1, SIGNALS).mapToObj(Loading::handler).toList();
    }

    private static Long handler(int signal) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment now = arena.allocate(ACTION_BYTES, 8);
            int ignored = (int) SIGACTION.invokeExact(signal, MemorySegment.NULL, now);
            return now.get(JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }

    private static final class Field {
        private int value;
    }

    /// By the signal of the machine, and not by a comparison: the code is compiled before the first null comes.
    private static boolean isNullFound() {
        Field[] fields = {new Field()};
        for (int i = 0; i < 200_000; i++) {
            fields[0].value++;
        }
        fields[0] = null;
        int found = 0;
        for (int i = 0; i < 100; i++) {
            try {
                fields[0].value++;
            } catch (NullPointerException expected) {
                found++;
            }
        }
        return found == 100;
    }
}
