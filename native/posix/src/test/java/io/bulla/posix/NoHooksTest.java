// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.posix.fixtures.Fork;
import io.bulla.posix.internal.calls.NativeAccess;
import io.bulla.posix.memfd.HugePages;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// The pool hooks into no allocator: the beginnings of the C library's functions that hand out memory, and every
/// signal's handler, are the same before its classes are loaded and after it was used. The ancestor's memory hooks
/// wrote jumps there.
class NoHooksTest {

    private static final List<String> GRANTED =
            List.of("--illegal-native-access=deny", "--enable-native-access=io.bulla.posix");

    @Test
    void poolLeavesTheCLibraryAndSignalsAsTheyAre() throws Exception {
        assertEquals("looked at 69\n", output("pool"));
    }

    @Test
    @Needs(Piece.PROC_WRITES)
    void changedCodeAndAnotherHandlerAreSeen() throws Exception {
        assertEquals("changed: hcreate\nchanged: signal 10\nlooked at 70\n", output("hook"));
    }

    private static String output(String what) throws Exception {
        Fork fork = Fork.run("true", GRANTED, join(Fork.module(Looks.class), what));
        assertEquals(0, fork.status(), fork::output);
        return fork.output();
    }

    private static List<String> join(List<String> first, String last) {
        List<String> all = new ArrayList<>(first);
        all.add(last);
        return all;
    }

    /// Looks, does something, looks again, and says what differs.
    @SuppressWarnings("restricted") // reads code and handlers
    static final class Looks {

        private static final int CODE = 16;
        private static final int SIGNALS = 64;
        // struct sigaction of glibc on 64 bits: handler, mask of 128 bytes, flags, restorer; of the mask the kernel
        // knows 64 signals, and glibc copies the rest from its stack
        private static final int SIGACTION = 152;
        private static final int KNOWN = 16;
        private static final int FLAGS = 136;
        private static final int SIGUSR1 = 10;
        private static final MethodHandle SIGACTION_CALL = NativeAccess.linker()
                .downcallHandle(function("sigaction"), FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

        private final List<String> functions = new ArrayList<>(List.of("mmap", "munmap", "madvise", "brk", "free"));

        public static void main(String[] args) throws Throwable {
            Looks looks = new Looks();
            boolean hook = args[0].equals("hook");
            if (hook) {
                looks.functions.add("hcreate");
            }
            Map<String, String> before = looks.look();
            if (hook) {
                writeIntoAFunctionThatNoOneCalls();
                ignore(SIGUSR1);
            } else {
                use(SlabSupplier.arenas());
                use(new HugePages());
            }
            Map<String, String> after = looks.look();
            before.forEach((name, bytes) -> {
                if (!bytes.equals(after.get(name))) {
                    System.out.println("changed: " + name);
                }
            });
            System.out.println("looked at " + before.size());
        }

        private Map<String, String> look() throws Throwable {
            Map<String, String> seen = new TreeMap<>();
            for (String name : functions) {
                seen.put(name, hex(function(name).reinterpret(CODE)));
            }
            try (Arena arena = Arena.ofConfined()) {
                for (int signal = 1; signal <= SIGNALS; signal++) {
                    MemorySegment action = arena.allocate(SIGACTION);
                    // glibc keeps 32 and 33 to itself: refused before and after
                    int status = (int) SIGACTION_CALL.invokeExact(signal, MemorySegment.NULL, action);
                    seen.put(
                            "signal " + signal,
                            status + " " + hex(action.asSlice(0, KNOWN)) + " " + hex(action.asSlice(FLAGS)));
                }
            }
            return seen;
        }

        private static String hex(MemorySegment bytes) {
            return HexFormat.of().formatHex(bytes.toArray(JAVA_BYTE));
        }

        private static MemorySegment function(String name) {
            return NativeAccess.linker().defaultLookup().findOrThrow(name);
        }

        /// Slabs taken, used by threads that end, trimmed, and given back.
        private static void use(SlabSupplier supplier) throws InterruptedException {
            SlabSource memory = SlabSource.builder().supplier(supplier).build();
            for (int i = 0; i < 3; i++) {
                Thread user = Thread.ofPlatform().start(() -> build(memory));
                build(memory);
                user.join();
                memory.trim();
            }
            memory.close(Duration.ofSeconds(30));
        }

        private static void build(MemorySource memory) {
            for (int size = 1; size < 8 << 20; size *= 3) {
                try (BufferBuilder builder = BufferBuilder.create(memory);
                        SealedBuffer message = builder.put(new byte[size]).seal()) {
                    message.share().close();
                }
            }
        }

        /// As a hook does, past the protection of the page.
        private static void writeIntoAFunctionThatNoOneCalls() throws IOException {
            try (RandomAccessFile memory = new RandomAccessFile("/proc/self/mem", "rw")) {
                memory.seek(function("hcreate").address());
                memory.write(0xCC);
            }
        }

        private static void ignore(int signal) throws Throwable {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment action = arena.allocate(SIGACTION);
                // SIG_IGN
                action.set(ADDRESS, 0, MemorySegment.ofAddress(1));
                if ((int) SIGACTION_CALL.invokeExact(signal, action, MemorySegment.NULL) != 0) {
                    throw new IllegalStateException("sigaction refused: signal=" + signal);
                }
            }
        }
    }
}
