// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static io.bulla.fabric.Libfabric.common;
import static io.bulla.fabric.Libfabric.function;
import static io.bulla.fabric.Libfabric.handle;
import static io.bulla.fabric.Libfabric.type;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The operations of libfabric's objects, each found in its object's table.
///
/// ```
/// fid_ep:     24 operations  32 connection  40 messages  48 remote memory
/// fi_msg:     0 iov  8 desc  16 count  24 peer  32 context  40 data                                    48 bytes
/// fi_msg_rma: 0 iov  8 desc  16 count  24 peer  32 remote iov  40 count  48 context  56 data            64 bytes
/// ```
final class FabricCalls {

    private static final int ENABLE = 6;
    private static final int NAME_BYTES = 256;
    private static final long ANY_PEER = -1;
    private static final long OBJECT_TABLE = 24;

    private static final MethodHandle CLOSE = handle(type(JAVA_INT, JAVA_LONG));
    private static final MethodHandle OPEN = handle(type(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG));
    private static final MethodHandle OPEN_FABRIC =
            Libfabric.exported("fi_fabric", type(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle OPEN_WITH_INFO = handle(type(JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle BIND = handle(type(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CONTROL = handle(type(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle GETNAME = handle(type(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS));
    private static final MethodHandle INSERT =
            handle(type(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle READ = handle(type(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle MESSAGE = handle(type(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final MethodHandle RECEIVE =
            handle(type(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle REGISTER = handle(type(
            JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));

    private FabricCalls() {}

    /// @param out where the object goes
    static void openFabric(long attributes, MemorySegment out) throws FabricException {
        SignalHandlers before = SignalHandlers.keep();
        try {
            check("fi_fabric", (int) OPEN_FABRIC.invokeExact(attributes, out, 0L), "");
        } catch (Throwable thrown) {
            throw passed(thrown);
        } finally {
            before.restore();
        }
    }

    /// An object that needs the provider's description.
    static void open(String call, long parent, long bytes, long function, long info, MemorySegment out)
            throws FabricException {
        MemorySegment open = function(call, parent, OBJECT_TABLE, bytes, function);
        // providers take signals of the process for themselves; they are the JVM's
        SignalHandlers before = SignalHandlers.keep();
        try {
            check(call, (int) OPEN_WITH_INFO.invokeExact(open, parent, info, out, 0L), "");
        } catch (Throwable thrown) {
            throw passed(thrown);
        } finally {
            before.restore();
        }
    }

    /// An object of the domain.
    static void open(String call, long domain, long function, MemorySegment attributes, MemorySegment out)
            throws FabricException {
        MemorySegment open = function(call, domain, OBJECT_TABLE, 96, function);
        try {
            check(call, (int) OPEN.invokeExact(open, domain, attributes, out, 0L), "");
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    static void bind(long endpoint, long object, long flags) throws FabricException {
        MemorySegment bind = common("fi_ep_bind", endpoint, 16);
        try {
            check(
                    "fi_ep_bind",
                    (int) BIND.invokeExact(bind, endpoint, object, flags),
                    "flags=" + Long.toHexString(flags));
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    static void enable(long endpoint) throws FabricException {
        MemorySegment control = common("fi_enable", endpoint, 24);
        SignalHandlers before = SignalHandlers.keep();
        try {
            check("fi_enable", (int) CONTROL.invokeExact(control, endpoint, ENABLE, 0L), "");
        } catch (Throwable thrown) {
            throw passed(thrown);
        } finally {
            before.restore();
        }
    }

    static byte[] nameOf(long endpoint) throws FabricException {
        MemorySegment getname = function("fi_getname", endpoint, 32, 80, 16);
        try (Arena own = Arena.ofConfined()) {
            MemorySegment name = own.allocate(NAME_BYTES, 8);
            MemorySegment length = own.allocate(8, 8);
            length.set(JAVA_LONG, 0, NAME_BYTES);
            check("fi_getname", (int) GETNAME.invokeExact(getname, endpoint, name, length), "most=" + NAME_BYTES);
            return name.asSlice(0, length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    /// @return the peer's number
    static long insert(long addresses, byte... name) throws FabricException {
        MemorySegment insert = function("fi_av_insert", addresses, OBJECT_TABLE, 64, 8);
        try (Arena own = Arena.ofConfined()) {
            MemorySegment found = own.allocate(8, 8);
            int inserted =
                    (int) INSERT.invokeExact(insert, addresses, own.allocateFrom(JAVA_BYTE, name), 1L, found, 0L, 0L);
            if (inserted != 1) {
                throw Libfabric.failed("fi_av_insert", inserted, "nameBytes=" + name.length);
            }
            return found.get(JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    static void register(long domain, long address, long length, long access, long key, MemorySegment out)
            throws FabricException {
        MemorySegment register = function("fi_mr_reg", domain, 32, 32, 8);
        try {
            int result = (int) REGISTER.invokeExact(register, domain, address, length, access, 0L, key, 0L, out, 0L);
            if (result < 0) {
                throw Libfabric.failed("fi_mr_reg", result, "bytes=" + length);
            }
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    /// Ends an object.
    ///
    /// @return 0, or libfabric's negative number
    static int close(long object) throws FabricException {
        MemorySegment close = common("fi_close", object, 8);
        try {
            return (int) CLOSE.invokeExact(close, object);
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    /// @return 0, or libfabric's negative number
    static long write(long endpoint, MemorySegment message, long flags) throws FabricException {
        return message("fi_writemsg", function("fi_writemsg", endpoint, 48, 80, 48), endpoint, message, flags);
    }

    /// @return 0, or libfabric's negative number
    static long send(long endpoint, MemorySegment message, long flags) throws FabricException {
        return message("fi_sendmsg", function("fi_sendmsg", endpoint, 40, 80, 48), endpoint, message, flags);
    }

    /// @return 0, or libfabric's negative number
    static long receive(long endpoint, long address, long length, long context) throws FabricException {
        MemorySegment receive = function("fi_recv", endpoint, 40, 80, 8);
        try {
            return (long) RECEIVE.invokeExact(receive, endpoint, address, length, 0L, ANY_PEER, context);
        } catch (Throwable thrown) {
            throw passed(thrown);
        }
    }

    /// @return entries read, or libfabric's negative number
    static long read(long queue, MemorySegment into, long count) throws FabricException {
        return read(function("fi_cq_read", queue, OBJECT_TABLE, 64, 8), queue, into, count);
    }

    /// @return entries read, or libfabric's negative number
    static long readError(long queue, MemorySegment into) throws FabricException {
        return read(function("fi_cq_readerr", queue, OBJECT_TABLE, 64, 24), queue, into, 0);
    }

    private static long read(MemorySegment read, long queue, MemorySegment into, long count) {
        try {
            return (long) READ.invokeExact(read, queue, into, count);
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    private static long message(String call, MemorySegment way, long endpoint, MemorySegment message, long flags) {
        try {
            return (long) MESSAGE.invokeExact(way, endpoint, message, flags);
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    private static void check(String call, long result, String what) throws FabricException {
        if (result < 0) {
            throw Libfabric.failed(call, result, what);
        }
    }

    private static FabricException passed(Throwable thrown) {
        if (thrown instanceof FabricException refused) {
            return refused;
        }
        throw Libfabric.impossible(thrown);
    }
}
