// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Value;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// `PMIx_Data_pack` and `PMIx_Data_unpack` of PMIx 4.2, as a tool without a connection.
///
/// The library takes its wire module, the width of its numbers and whether it describes items from the environment,
/// once: `PMIX_MCA_bfrops`, `PMIX_MCA_psquash`, `PMIX_BFROP_BUFFER_TYPE`.
final class Pmix extends CLibrary {

    private static final String FILE = "libpmix.so.2";
    /// `PMIX_TOOL_DO_NOT_CONNECT`.
    private static final String DO_NOT_CONNECT = "pmix.tool.nocon";

    private final String version;
    private final MethodHandle pack;
    private final MethodHandle unpack;
    private final MethodHandle compress;
    private final MethodHandle inflate;

    private Pmix(SymbolLookup library, CMemory memory, PmixValues values, String version) {
        super(memory, values);
        FunctionDescriptor shape = FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        this.version = version;
        this.pack = CMemory.function(
                library,
                "PMIx_Data_pack",
                FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_SHORT));
        this.unpack = CMemory.function(
                library,
                "PMIx_Data_unpack",
                FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_SHORT));
        this.compress = CMemory.function(library, "PMIx_Data_compress", shape);
        this.inflate = CMemory.function(library, "PMIx_Data_decompress", shape);
    }

    /// @throws IllegalArgumentException if the library is not there
    static Pmix open(WireFormat format) throws Throwable {
        SymbolLookup library = CMemory.library(FILE);
        CMemory memory = new CMemory();
        PmixValues.Sizes sizes = new PmixValues.Sizes(
                CMemory.sizeOfClass(library, "pmix_object_t_class"),
                CMemory.sizeOfClass(library, "pmix_list_item_t_class"),
                CMemory.sizeOfClass(library, "pmix_kval_t_class"),
                CMemory.sizeOfClass(library, "pmix_buffer_t_class"));
        PmixValues values = new PmixValues(memory, format, sizes);
        start(library, memory, values);
        long version = (long) CMemory.function(library, "PMIx_Get_version", FunctionDescriptor.of(JAVA_LONG))
                .invokeExact();
        return new Pmix(library, memory, values, memory.getText(version));
    }

    /// The cheapest start: no server, no socket, no file.
    private static void start(SymbolLookup library, CMemory memory, PmixValues values) throws Throwable {
        long proc = memory.allocate(260);
        long info = values.putAll(DataType.INFO, List.of(new Info(DO_NOT_CONNECT, 0, new Value(DataType.BOOL, true))));
        int status = (int) CMemory.function(
                        library, "PMIx_tool_init", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG))
                .invokeExact(proc, info, 1L);
        if (status != 0) {
            throw new IllegalStateException("PMIx_tool_init failed: status=" + status);
        }
    }

    @Override
    String version() {
        // OpenPMIx 4.2.2rc2, repo revision ...
        return (FILE + " " + version).replaceAll("[,(].*", "").strip() + " " + System.getenv("PMIX_MCA_bfrops");
    }

    /// What `PMIx_Data_compress` makes of bytes, or null if it does not: 4.2 takes the most that
    /// zlib could need for what it will, and so never does.
    byte[] compressed(byte[] bytes) {
        return other(compress, bytes);
    }

    /// What `PMIx_Data_decompress` makes of that.
    byte[] inflated(byte[] compressed) {
        return other(inflate, compressed);
    }

    private byte[] other(MethodHandle function, byte[] bytes) {
        memory.reset();
        long out = memory.allocate(16);
        try {
            boolean done = (boolean) function.invokeExact(memory.bytes(bytes), (long) bytes.length, out, out + 8);
            return done ? memory.takeBytes(memory.getLong(out), memory.getLong(out + 8)) : null;
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    @Override
    long buffer(byte[] bytes) {
        long buffer = memory.allocate(CBuffer.BYTES);
        new CBuffer(memory, buffer).fill(bytes);
        return buffer;
    }

    @Override
    int packItem(long buffer, long source, int count, int typeId) throws Throwable {
        return (int) pack.invokeExact(0L, buffer, source, count, (short) typeId);
    }

    @Override
    int unpackItem(long buffer, long target, long count, int typeId) throws Throwable {
        return (int) unpack.invokeExact(0L, buffer, target, count, (short) typeId);
    }

    @Override
    byte[] takeBytesOf(long buffer) {
        return new CBuffer(memory, buffer).take();
    }

    @Override
    long unread(long buffer) {
        return new CBuffer(memory, buffer).unread();
    }
}
