// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static io.bulla.fabric.Libfabric.at;
import static io.bulla.fabric.Libfabric.type;
import static io.bulla.fabric.Libfabric.word;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// libfabric's answer to the question for one provider.
///
/// ```
/// fi_info:         0 next  8 caps  16 mode  72 tx  80 rx  88 ep  96 domain  104 fabric       120 bytes
/// fi_tx_attr:      56 iov_limit
/// fi_ep_attr:      0 type  16 max_msg_size
/// fi_domain_attr:  8 name  16 threading  36 mr_mode  40 mr_key_size  48 cq_data_size
/// fi_fabric_attr:  16 prov_name
/// ```
final class FabricInfo implements AutoCloseable {

    static final int BY_ADDRESS = 0x10;
    private static final int MR_LOCAL = 0x4;
    private static final int MR_ALLOCATED = 0x20;
    private static final int MR_PROV_KEY = 0x40;
    private static final long CAPS_MSG_RMA = 0x2 | 0x4;
    private static final long SOURCE = 1L << 57;
    private static final int EP_RDM = 3;
    private static final int THREAD_SAFE = 1;
    private static final long INFO_BYTES = 120;

    private static final FunctionDescriptor GETINFO =
            type(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
    private static final FunctionDescriptor DUPINFO = type(JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor FREEINFO = FunctionDescriptor.ofVoid(JAVA_LONG);

    private final long address;
    private final FabricProvider provider;

    private FabricInfo(long address, FabricProvider provider) {
        this.address = address;
        this.provider = provider;
    }

    /// @throws FabricException if there is no such provider here, or it is not offered
    static FabricInfo of(String name) throws FabricException {
        FabricProvider.checkOffered(name);
        Libfabric.require();
        try (Arena arena = Arena.ofConfined()) {
            long hints = hints(arena, name);
            MemorySegment answer = arena.allocate(8, 8);
            // processes of one machine; those that need no address of the network take none
            boolean local = name.equals("shm");
            MemorySegment node = local ? MemorySegment.NULL : arena.allocateFrom("127.0.0.1");
            int result;
            SignalHandlers before = SignalHandlers.keep();
            try {
                result = (int) Libfabric.exported("fi_getinfo", GETINFO)
                        .invokeExact(Libfabric.VERSION, node, MemorySegment.NULL, local ? 0L : SOURCE, hints, answer);
            } catch (Throwable thrown) {
                throw Libfabric.impossible(thrown);
            } finally {
                before.restore();
                free(hints);
            }
            if (result != 0) {
                throw Libfabric.failed("fi_getinfo", result, "provider=" + name);
            }
            long found = answer.get(JAVA_LONG, 0);
            return new FabricInfo(found, describe(name, found));
        }
    }

    long address() {
        return address;
    }

    long fabricAttributes() {
        return word(address + 104);
    }

    /// Regions of one operation.
    int mostRegions() {
        return Math.clamp(word(word(address + 72) + 56), 1, 1024);
    }

    /// Whether a write can carry a number of 64 bits that the target's queue of completions gets with it.
    ///
    /// The provider shm of libfabric 2.1 says that it can, and the number never comes: it is trusted in 1.17 only.
    boolean carriesNumbers() {
        boolean losesThem = provider.name().equals("shm") && Libfabric.version() != Libfabric.VERSION;
        return !losesThem && word(word(address + 96) + 48) >= Long.BYTES;
    }

    FabricProvider provider() {
        return provider;
    }

    @Override
    public void close() {
        free(address);
    }

    private static FabricProvider describe(String name, long info) {
        long domain = word(info + 96);
        int mode = Libfabric.number(domain + 36);
        String on = Libfabric.stringOrNull(word(domain + 8));
        // unsigned
        long most = word(word(info + 88) + 16);
        return new FabricProvider(
                name,
                on == null ? "-" : on,
                FabricProvider.fenceOf(name),
                word(domain + 40),
                most < 0 ? Long.MAX_VALUE : most,
                (mode & BY_ADDRESS) != 0,
                (mode & MR_PROV_KEY) != 0);
    }

    /// The hints for libfabric, which frees them, strings included.
    private static long hints(Arena arena, String name) {
        long hints = 0;
        boolean whole = false;
        try {
            hints = (long) Libfabric.exported("fi_dupinfo", DUPINFO).invokeExact(0L);
            if (hints == 0) {
                throw new OutOfMemoryError("fi_dupinfo: bytes=" + INFO_BYTES);
            }
            MemorySegment info = at(hints, INFO_BYTES);
            info.set(JAVA_LONG, 8, CAPS_MSG_RMA);
            info.set(JAVA_LONG, 16, 0);
            at(word(hints + 88), 4).set(JAVA_INT, 0, EP_RDM);
            MemorySegment domain = at(word(hints + 96), 48);
            domain.set(JAVA_INT, 16, THREAD_SAFE);
            domain.set(JAVA_INT, 36, MR_LOCAL | BY_ADDRESS | MR_ALLOCATED);
            at(word(hints + 104) + 16, 8).set(JAVA_LONG, 0, copied(arena.allocateFrom(name)));
            whole = true;
            return hints;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        } finally {
            if (!whole && hints != 0) {
                free(hints);
            }
        }
    }

    /// A string that the C library allocates, for libfabric frees it.
    @SuppressWarnings("restricted")
    private static long copied(MemorySegment text) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle strdup = Libfabric.Seam.around(
                "strdup",
                linker.downcallHandle(linker.defaultLookup().findOrThrow("strdup"), type(JAVA_LONG, ADDRESS)));
        long copy = (long) strdup.invokeExact(text);
        if (copy == 0) {
            // a hint without a name asks for any provider
            throw new OutOfMemoryError("strdup: bytes=" + text.byteSize());
        }
        return copy;
    }

    private static void free(long info) {
        try {
            Libfabric.exported("fi_freeinfo", FREEINFO).invokeExact(info);
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }
}
