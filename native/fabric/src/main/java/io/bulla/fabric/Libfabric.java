// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import org.jspecify.annotations.Nullable;

/// The functions of libfabric: some are exported, the others stand in tables that its objects point to. Every
/// table begins with its size, which is looked at before anything in it is called.
///
/// ```
/// object: 0 class  8 context  16 common operations  24.. operations of its class
/// ```
///
/// Offsets are those of version 1.17, as its headers give them on 64-bit Linux. Later versions promise to keep
/// them: their structures and tables only grow at the end, and the library is asked as by a program made for 1.17.
/// Tried are 1.17.0 and 2.1.0.
final class Libfabric {

    static final int VERSION = 1 << 16 | 17;
    static final int EAGAIN = 11;
    static final int EAVAIL = 259;
    static final long COMPLETION = 1L << 24;
    static final long REMOTE_DATA = 1L << 17;
    static final long REMOTE_WRITE = 0x2000;

    // its tables may be others
    private static final int UNTRIED = 3 << 16;
    private static final String FILE = "libfabric.so.1";
    // an endpoint of rxm has thousands of these, all of which are written when it is opened, and given back while a
    // revocation waits: with the 16 KiB of its own 70 MiB, and 5 ms of a processor. Links say 32 bytes at a time
    private static final String RXM_BUFFER_BYTES = "1024";
    private static final FunctionDescriptor STRERROR = FunctionDescriptor.of(ADDRESS, JAVA_INT);
    private static final long LONGEST_TEXT = 4096;
    private static final long COMMON_BYTES = 56;
    private static final long COMMON = 16;

    /// Loaded with the first use.
    private static final class Loaded {
        static final Linker LINKER = Linker.nativeLinker();
        static final Object FOUND = loadQuietly();

        private static Object loadQuietly() {
            SignalHandlers before = SignalHandlers.keep();
            try {
                return load();
            } finally {
                before.restore();
            }
        }
    }

    /// All addresses, for the words of libfabric's own objects: one segment, for making one costs more than the look.
    private static final class Everything {
        // restricted: addresses that libfabric gave
        @SuppressWarnings("restricted")
        static final MemorySegment BYTES = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }

    /// Where a test stands between this module and libfabric: it makes each call, or answers in its place.
    ///
    /// It is there only in a JVM that was started with `-Dbulla.fabric.seam=true`, as the tests of this module are.
    /// In any other one the handles are the linker's own, and nothing is asked.
    static final class Seam {

        private static final boolean OPEN = Boolean.getBoolean("bulla.fabric.seam");
        // by address: what stands in libfabric's tables
        private static final Map<Long, String> NAMES = new ConcurrentHashMap<>();
        // volatile: seen by the next call of any thread
        private static volatile @Nullable ToLongBiFunction<String, LongSupplier> watcher;

        private Seam() {}

        /// @param next told the name of each call from now on, and how to make it; returns the call's result. `null`
        ///     for none
        static void watch(@Nullable ToLongBiFunction<String, LongSupplier> next) {
            if (!OPEN) {
                throw new IllegalStateException("the seam is closed: start the JVM with -Dbulla.fabric.seam=true");
            }
            watcher = next;
        }

        /// @param name none for a call through a pointer
        static MethodHandle around(@Nullable String name, MethodHandle call) {
            if (!OPEN) {
                return call;
            }
            try {
                MethodHandles.Lookup here = MethodHandles.lookup();
                MethodHandle watched = here.findStatic(Seam.class, "watched", MethodType.methodType(boolean.class));
                MethodHandle asked = here.findStatic(
                        Seam.class,
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

        private static void name(long function, String name) {
            if (OPEN) {
                NAMES.put(function, name);
            }
        }

        private static boolean watched() {
            return watcher != null;
        }

        private static Object asked(@Nullable String exported, MethodHandle call, Object[] arguments) {
            String name = exported != null ? exported : NAMES.get(((MemorySegment) arguments[0]).address());
            LongSupplier made = () -> {
                try {
                    return call.invokeWithArguments(arguments) instanceof Number result ? result.longValue() : 0;
                } catch (Throwable thrown) {
                    throw impossible(thrown);
                }
            };
            ToLongBiFunction<String, LongSupplier> asked = watcher;
            long result = asked == null || name == null ? made.getAsLong() : asked.applyAsLong(name, made);
            return call.type().returnType() == int.class ? (Object) (int) result : (Object) result;
        }
    }

    private Libfabric() {}

    /// Loads the library, if it was not.
    ///
    /// @throws FabricException if it is not here, or is another version
    static void require() throws FabricException {
        Module module = Libfabric.class.getModule();
        if (!module.isNativeAccessEnabled()) {
            throw new UnsupportedOperationException("native access is not enabled: start the JVM with"
                    + " --enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED"));
        }
        if (!(Loaded.FOUND instanceof SymbolLookup)) {
            throw new FabricException("dlopen", 0, String.valueOf(Loaded.FOUND));
        }
        check(version());
    }

    /// @throws FabricException that names those that are taken, if it is none of them
    static void check(int version) throws FabricException {
        if (version < VERSION || version >= UNTRIED) {
            throw new FabricException("fi_version", 0, "found=" + text(version) + " taken=1.17 to 2.x");
        }
    }

    static String text(int version) {
        return (version >>> 16) + "." + (version & 0xffff);
    }

    static int version() {
        try {
            return (int) exported("fi_version", FunctionDescriptor.of(JAVA_INT)).invokeExact();
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /// The message of an error number.
    static String meaning(long error) {
        try {
            MemorySegment text =
                    (MemorySegment) exported("fi_strerror", STRERROR).invokeExact((int) error);
            return string(text.address());
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    // restricted: what this module is for
    @SuppressWarnings("restricted")
    static MethodHandle exported(String name, FunctionDescriptor type) {
        MemorySegment address = ((SymbolLookup) Loaded.FOUND).findOrThrow(name);
        MethodHandle call = Loaded.LINKER.downcallHandle(address, type);
        return type.equals(STRERROR) ? call : Seam.around(name, call);
    }

    /// A call through a pointer: its first argument is the function. To be kept: it is slow to make, and slow to call
    /// if it is no constant.
    @SuppressWarnings("restricted")
    static MethodHandle handle(FunctionDescriptor type) {
        return Seam.around(null, Loaded.LINKER.downcallHandle(type));
    }

    /// A function of a table that an object points to.
    ///
    /// @param object that has the table
    /// @param table where in the object
    /// @param bytes size of the table in version 1.17; later ones have more behind it
    /// @param function where in the table
    /// @throws FabricException if the table is smaller, or has no such function
    static MemorySegment function(String name, long object, long table, long bytes, long function)
            throws FabricException {
        long operations = word(object + table);
        long found = operations == 0 ? 0 : word(operations);
        if (found < bytes) {
            throw new FabricException(name, 0, "table is too small: bytes=" + found + " needed=" + bytes);
        }
        long address = word(operations + function);
        if (address == 0) {
            throw new FabricException(name, 0, "no such function in the table");
        }
        Seam.name(address, name);
        return MemorySegment.ofAddress(address);
    }

    /// A common operation of any object.
    static MemorySegment common(String name, long object, long function) throws FabricException {
        return function(name, object, COMMON, COMMON_BYTES, function);
    }

    static long word(long address) {
        return Everything.BYTES.get(JAVA_LONG, address);
    }

    static int number(long address) {
        return Everything.BYTES.get(JAVA_INT, address);
    }

    // restricted: an address that libfabric gave, and a size that its headers give
    @SuppressWarnings("restricted")
    static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    static @Nullable String stringOrNull(long address) {
        return address == 0 ? null : string(address);
    }

    static String string(long address) {
        return at(address, LONGEST_TEXT).getString(0);
    }

    static FabricException failed(String call, long result, String what) {
        int number = (int) Math.abs(result);
        return new FabricException(call, number, "meaning=[" + meaning(number) + "] " + what);
    }

    /// A downcall only refuses its arguments.
    static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof RuntimeException refused) {
            throw refused;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a call of libfabric threw", thrown);
    }

    // restricted: as above
    @SuppressWarnings("restricted")
    private static Object load() {
        try {
            // before the library: one of those that it loads would else take SIGSEGV, by which the JVM finds null
            setenv("IPATH_NO_BACKTRACE", "1");
            setenv("FI_OFI_RXM_BUFFER_SIZE", RXM_BUFFER_BYTES);
            return SymbolLookup.libraryLookup(FILE, Arena.global());
        } catch (IllegalArgumentException missing) {
            return "not found: " + FILE;
        }
    }

    @SuppressWarnings("restricted")
    private static void setenv(String name, String value) {
        MethodHandle setenv = Loaded.LINKER.downcallHandle(
                Loaded.LINKER.defaultLookup().findOrThrow("setenv"),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            int ignored = (int) setenv.invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 0);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    static FunctionDescriptor type(MemoryLayout result, MemoryLayout... arguments) {
        return FunctionDescriptor.of(result, arguments);
    }
}
