// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The server of `libpmix.so.2` inside this process. Fences among its own clients end inside the library; what needs
/// a host program, such as publishing, it refuses.
///
/// Layouts are those of x86-64, the same in PMIx 4.2 to 6.1:
///
/// ```
/// proc   260: char namespace[256] | u32 rank
/// value   32: u16 type | 8: data
/// info   552: char key[512] | u32 flags | 520: value
/// array   24: u16 type | 8: size | 16: pointer
/// ```
@SuppressWarnings("restricted")
final class CServer implements AutoCloseable {

    private static final String FILE = "libpmix.so.2";
    private static final int PROC_BYTES = 260;
    private static final int INFO_BYTES = 552;
    private static final long VALUE = 520;
    private static final long DATA = VALUE + 8;
    private static final short STRING = 3;
    private static final short UINT16 = 13;
    private static final short UINT32 = 14;
    private static final short INFO = 24;
    private static final short DATA_ARRAY = 39;
    private static final short PROC_RANK = 40;
    // what a call says that has no callback and is done
    private static final int OPERATION_SUCCEEDED = -157;

    private final Arena memory = Arena.global();
    private final SymbolLookup library;

    /// @throws IllegalArgumentException if the library is not there
    CServer() throws Throwable {
        library = SymbolLookup.libraryLookup(FILE, memory);
        check("PMIx_server_init", (int)
                call("PMIx_server_init", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG))
                        .invokeExact(MemorySegment.NULL, MemorySegment.NULL, 0L));
    }

    String version() throws Throwable {
        MemorySegment text = (MemorySegment)
                call("PMIx_Get_version", FunctionDescriptor.of(ADDRESS)).invokeExact();
        return text.reinterpret(200).getString(0).replaceAll("[,(].*", "").strip();
    }

    /// Tells the server of a job whose processes are all on this host.
    ///
    /// @return what a launcher would put into each one's environment
    List<Map<String, String>> register(String namespace, int size) throws Throwable {
        List<String> ranks = new ArrayList<>();
        MemorySegment infos = memory.allocate((long) (4 + size) * INFO_BYTES, 8);
        MemorySegment jobSize = info(infos, 0, "pmix.job.size", UINT32);
        jobSize.set(JAVA_INT, DATA, size);
        info(infos, 1, "pmix.univ.size", UINT32).set(JAVA_INT, DATA, size);
        info(infos, 2, "pmix.local.size", UINT32).set(JAVA_INT, DATA, size);
        for (int rank = 0; rank < size; rank++) {
            ranks.add(String.valueOf(rank));
            MemorySegment array = memory.allocate(24, 8);
            array.set(JAVA_SHORT, 0, INFO);
            array.set(JAVA_LONG, 8, 3);
            array.set(ADDRESS, 16, rankInfo(rank));
            info(infos, 4 + rank, "pmix.pdata", DATA_ARRAY).set(ADDRESS, DATA, array);
        }
        info(infos, 3, "pmix.lpeers", STRING).set(ADDRESS, DATA, memory.allocateFrom(String.join(",", ranks)));
        check("PMIx_server_register_nspace", (int) call(
                        "PMIx_server_register_nspace",
                        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS))
                .invokeExact(proc(namespace, 0), size, infos, 4L + size, MemorySegment.NULL, MemorySegment.NULL));
        List<Map<String, String>> environments = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            environments.add(client(proc(namespace, rank)));
        }
        return environments;
    }

    private MemorySegment rankInfo(int rank) {
        MemorySegment infos = memory.allocate(3L * INFO_BYTES, 8);
        info(infos, 0, "pmix.rank", PROC_RANK).set(JAVA_INT, DATA, rank);
        info(infos, 1, "pmix.lrank", UINT16).set(JAVA_SHORT, DATA, (short) rank);
        info(infos, 2, "pmix.hname", STRING).set(ADDRESS, DATA, memory.allocateFrom("localhost"));
        return infos;
    }

    private Map<String, String> client(MemorySegment proc) throws Throwable {
        UserIds ids = UserIds.ofProcess();
        check("PMIx_server_register_client", (int) call(
                        "PMIx_server_register_client",
                        FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS))
                .invokeExact(
                        proc, ids.user(), ids.group(), MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL));
        MemorySegment environment = memory.allocate(ADDRESS);
        check("PMIx_server_setup_fork", (int)
                call("PMIx_server_setup_fork", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS))
                        .invokeExact(proc, environment));
        MemorySegment lines = environment.get(ADDRESS, 0).reinterpret(Long.MAX_VALUE);
        Map<String, String> variables = new HashMap<>();
        for (int i = 0; lines.getAtIndex(ADDRESS, i).address() != 0; i++) {
            String line =
                    lines.getAtIndex(ADDRESS, i).reinterpret(Long.MAX_VALUE).getString(0);
            variables.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
        }
        return variables;
    }

    private static MemorySegment info(MemorySegment infos, int index, String key, short type) {
        MemorySegment info = infos.asSlice((long) index * INFO_BYTES, INFO_BYTES);
        info.setString(0, key);
        info.set(JAVA_SHORT, VALUE, type);
        return info;
    }

    private MemorySegment proc(String namespace, int rank) {
        MemorySegment proc = memory.allocate(PROC_BYTES, 8);
        proc.setString(0, namespace);
        proc.set(JAVA_INT, 256, rank);
        return proc;
    }

    private MethodHandle call(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), descriptor);
    }

    private static void check(String what, int status) {
        if (status != 0 && status != OPERATION_SUCCEEDED) {
            throw new IllegalStateException(what + " failed: status=" + new PmixStatus(status));
        }
    }

    @Override
    public void close() {
        try {
            check("PMIx_server_finalize", (int) call("PMIx_server_finalize", FunctionDescriptor.of(JAVA_INT))
                    .invokeExact());
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }
}
