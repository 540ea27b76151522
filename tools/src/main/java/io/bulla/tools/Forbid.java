// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;

/// Becomes a program to which the kernel refuses some system calls with `EPERM`, as a container's seccomp profile
/// does.
///
/// Arguments: the calls' numbers with commas between, then the program's file and its arguments. `./check bare` takes
/// io_uring and memory files away by it, on machines without a C compiler too.
///
/// Source of the filter: seccomp(2), `struct sock_filter` and `struct seccomp_data` of Linux.
public final class Forbid {

    private static final int PR_SET_SECCOMP = 22;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int FILTER_MODE = 2;

    private static final int LOAD = 0x20;
    private static final int JUMP_IF_EQUAL = 0x15;
    private static final int RETURN = 0x06;
    private static final int REFUSE = 0x00050001;
    private static final int ALLOW = 0x7fff0000;
    private static final int INSTRUCTION = 8;

    private Forbid() {}

    /// Does not return: the process goes on as the program, under the same number.
    ///
    /// @param arguments the calls, the program, its arguments
    /// @throws Throwable if the kernel refuses the filter or the program
    public static void main(String[] arguments) throws Throwable {
        if (arguments.length < 2) {
            throw new IllegalArgumentException("wanted: NUMBER,NUMBER PROGRAM [ARGUMENT...]");
        }
        int[] calls = Arrays.stream(arguments[0].split(","))
                .mapToInt(Integer::parseInt)
                .toArray();
        List<String> command = Arrays.asList(arguments).subList(1, arguments.length);
        MethodHandle prctl = function(
                "prctl", 1, FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        MethodHandle execv = function("execv", 0, FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = filter(arena, calls);
            MemorySegment words = arena.allocate(ADDRESS, command.size() + 1L);
            for (int i = 0; i < command.size(); i++) {
                words.setAtIndex(ADDRESS, i, arena.allocateFrom(command.get(i)));
            }
            require(0 == (int) prctl.invokeExact(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L), "prctl: no new privileges");
            require(
                    0 == (int) prctl.invokeExact(PR_SET_SECCOMP, (long) FILTER_MODE, filter.address(), 0L, 0L),
                    "prctl: filter of system calls");
            // the other threads of this JVM end here
            require(0 == (int) execv.invokeExact(arena.allocateFrom(command.getFirst()), words), "execv");
        }
    }

    /// Load the number; if it is one of them, go to the refusal behind the last; else allow.
    private static MemorySegment filter(Arena arena, int[] calls) {
        int length = calls.length + 3;
        MemorySegment program = arena.allocate((long) INSTRUCTION * length, INSTRUCTION);
        instruction(program, 0, LOAD, 0);
        for (int i = 0; i < calls.length; i++) {
            instruction(program, 1 + i, (calls.length - i) << 16 | JUMP_IF_EQUAL, calls[i]);
        }
        instruction(program, length - 2, RETURN, ALLOW);
        instruction(program, length - 1, RETURN, REFUSE);
        MemorySegment all = arena.allocate(2 * JAVA_LONG.byteSize(), JAVA_LONG.byteAlignment());
        all.set(JAVA_INT, 0, length);
        all.set(ADDRESS, JAVA_LONG.byteSize(), program);
        return all;
    }

    /// The code and the jumps, which lie in its upper bytes as in `struct sock_filter` of a little-endian machine.
    private static void instruction(MemorySegment program, int index, int code, int operand) {
        program.set(JAVA_INT, (long) INSTRUCTION * index, code);
        program.set(JAVA_INT, (long) INSTRUCTION * index + JAVA_INT.byteSize(), operand);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, int fixed, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        MemorySegment address = linker.defaultLookup().findOrThrow(name);
        return fixed == 0
                ? linker.downcallHandle(address, type)
                : linker.downcallHandle(address, type, Linker.Option.firstVariadicArg(fixed));
    }

    private static void require(boolean done, String what) {
        if (!done) {
            throw new IllegalStateException("refused: " + what);
        }
    }
}
