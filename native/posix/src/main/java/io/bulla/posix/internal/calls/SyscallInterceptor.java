// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/// Where a test stands between this module and the C library: asked before each call, it may refuse the call with
/// an error number, or delay it.
///
/// It is there only in a JVM that was started with `-Dbulla.posix.seam=true`, as the tests of this module are.
/// In any other one [Libc] hands out the linker's own handles, and nothing is asked.
public final class SyscallInterceptor {

    /// A test's answer to each call.
    public interface Watcher {

        /// Called on the thread that makes the call.
        ///
        /// @param call its name
        /// @param arguments of the call, behind the place for the error number
        /// @return 0 to make the call; an error number to refuse it; the negative of one to make it and then
        ///     say that it failed so, as `close` does
        int before(String call, Object[] arguments);
    }

    private static final boolean OPEN = Boolean.getBoolean("bulla.posix.seam");
    // volatile: seen by the next call of any thread
    private static volatile @Nullable Watcher watcher;

    private SyscallInterceptor() {}

    /// @param next asked from now on; `null` for none
    public static void watch(@Nullable Watcher next) {
        if (!OPEN) {
            throw new IllegalStateException("the seam is closed: start the JVM with -Dbulla.posix.seam=true");
        }
        watcher = next;
    }

    /// The handle that a caller gets: the call itself, where the seam is closed.
    static MethodHandle around(String name, MethodHandle call) {
        if (!OPEN) {
            return call;
        }
        try {
            MethodHandles.Lookup here = MethodHandles.lookup();
            MethodHandle watched =
                    here.findStatic(SyscallInterceptor.class, "watched", MethodType.methodType(boolean.class));
            MethodHandle asked = here.findStatic(
                    SyscallInterceptor.class,
                    "asked",
                    MethodType.methodType(Object.class, String.class, MethodHandle.class, Object[].class));
            MethodHandle each = MethodHandles.insertArguments(asked, 0, name, call)
                    .asCollector(Object[].class, call.type().parameterCount())
                    .asType(call.type());
            return MethodHandles.guardWithTest(watched, each, call);
        } catch (ReflectiveOperationException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static boolean watched() {
        return watcher != null;
    }

    private static Object asked(String name, MethodHandle call, Object[] arguments) throws Throwable {
        Watcher asked = watcher;
        int answer = asked == null ? 0 : asked.before(name, arguments);
        if (answer <= 0) {
            Object result = call.invokeWithArguments(arguments);
            if (answer == 0) {
                return result;
            }
        }
        ((MemorySegment) arguments[0]).set(JAVA_INT, 0, Math.abs(answer));
        return call.type().returnType() == long.class ? (Object) (-1L) : (Object) (-1);
    }
}
