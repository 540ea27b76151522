// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.pack.WireFormat;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// `opal_dss_pack` and `opal_dss_unpack` of Open MPI 4.1.
///
/// Only the serializer is opened: `opal_init_util` would put signal handlers over the JVM's. What it would have read
/// from the environment, the two sizes by which a buffer grows, is set here.
final class OpalDss extends CLibrary {

    private static final String FILE = "libopen-pal.so.40";

    private final OpalValues values;
    private final MethodHandle pack;
    private final MethodHandle unpack;

    private OpalDss(CMemory memory, OpalValues values, MethodHandle pack, MethodHandle unpack) {
        super(memory, values);
        this.values = values;
        this.pack = pack;
        this.unpack = unpack;
    }

    /// @throws IllegalArgumentException if the library is not there
    static OpalDss open(WireFormat format) throws Throwable {
        SymbolLookup library = CMemory.library(FILE);
        CMemory memory = new CMemory();
        memory.putInt(CMemory.variable(library, "opal_dss_initial_size"), 2048);
        memory.putInt(CMemory.variable(library, "opal_dss_threshold_size"), 4096);
        int status = (int) CMemory.function(library, "opal_dss_open", FunctionDescriptor.of(JAVA_INT))
                .invokeExact();
        if (status != 0) {
            throw new IllegalStateException("opal_dss_open failed: status=" + status);
        }
        OpalValues.Sizes sizes = new OpalValues.Sizes(
                CMemory.sizeOfClass(library, "opal_object_t_class"),
                CMemory.sizeOfClass(library, "opal_list_item_t_class"),
                CMemory.sizeOfClass(library, "opal_value_t_class"),
                CMemory.sizeOfClass(library, "opal_buffer_t_class"));
        return new OpalDss(
                memory,
                new OpalValues(memory, format, sizes),
                CMemory.function(
                        library,
                        "opal_dss_pack",
                        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_BYTE)),
                CMemory.function(
                        library,
                        "opal_dss_unpack",
                        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_BYTE)));
    }

    @Override
    String version() {
        return FILE;
    }

    @Override
    long buffer(byte[] bytes) {
        return values.buffer(values.format.described(), bytes);
    }

    @Override
    int packItem(long buffer, long source, int count, int typeId) throws Throwable {
        return (int) pack.invokeExact(buffer, source, count, (byte) typeId);
    }

    @Override
    int unpackItem(long buffer, long target, long count, int typeId) throws Throwable {
        return (int) unpack.invokeExact(buffer, target, count, (byte) typeId);
    }

    @Override
    byte[] takeBytesOf(long buffer) {
        return values.content(buffer).take();
    }

    @Override
    long unread(long buffer) {
        return values.content(buffer).unread();
    }
}
