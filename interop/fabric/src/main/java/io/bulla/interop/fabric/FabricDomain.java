// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import static io.bulla.interop.fabric.Libfabric.common;
import static io.bulla.interop.fabric.Libfabric.function;
import static io.bulla.interop.fabric.Libfabric.handle;
import static io.bulla.interop.fabric.Libfabric.type;
import static io.bulla.interop.fabric.Libfabric.word;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Ending;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Mark;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.Traits;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A provider of libfabric, opened: peers write into its grants.
///
/// ```
/// register: fi_mr_reg for this peer --retire--> fi_close(mr), and if the peer may be writing fi_close(its
/// endpoint) ```
///
/// Closing the registration ends new access only: bytes of a write that has begun go on arriving, also those of
/// a dead process. So a peer whose grant is revoked loses its endpoint, and needs another one to be served again.
///
/// Any thread may call it. The fabric makes progress in calls of [#progress()] only.
public final class FabricDomain implements Registrar {

    private static final long REMOTE_WRITE = 0x2000;
    private static final long TRANSMIT_AND_RECEIVE = 0x800 | 0x400;
    private static final long DELIVERY_COMPLETE = 1L << 28;
    private static final long COMPLETION = 1L << 24;
    private static final int ENABLE = 6;
    private static final int ECANCELED = 125;
    private static final int CQ_FORMAT_CONTEXT = 1;
    private static final int AV_TABLE = 2;
    private static final int NAME_BYTES = 256;
    private static final int COMPLETIONS = 16;
    private static final int ERROR_BYTES = 80;

    private static final FunctionDescriptor OPEN = type(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor OPEN_FABRIC = type(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor OPEN_WITH_INFO = type(JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor BIND = type(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor CONTROL = type(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor GETNAME = type(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
    private static final FunctionDescriptor INSERT =
            type(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor READ = type(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor WRITEMSG = type(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final FunctionDescriptor REGISTER = type(
            JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);

    private record Region(
            FabricDomain domain,
            long object,
            long key,
            @Nullable Peer peer) implements Mark {}

    private final FabricInfo info;
    private final Traits traits;
    // under this monitor, as all below
    private final Arena arena = Arena.ofShared();
    private final MemorySegment completions = arena.allocate(COMPLETIONS * 8L, 8);
    private final MemorySegment error = arena.allocate(ERROR_BYTES, 8);
    private final List<Long> opened = new ArrayList<>();
    private final Map<Peer, FabricEndpoint> endpoints = new HashMap<>();
    private final Map<Long, FabricWrite> writes = new HashMap<>();
    private final Queue<FabricWrite> waiting = new ArrayDeque<>();
    private final Set<Region> regions = new HashSet<>();
    private final long domain;
    private final long addresses;
    private final long queue;
    private long nextWrite = 1;
    private boolean closed;

    private FabricDomain(FabricInfo info) throws FabricException {
        this.info = info;
        FabricProvider provider = info.provider();
        this.traits = new Traits(
                "libfabric:" + provider.name(),
                Set.of(Access.REMOTE_WRITE),
                false,
                provider.choosesKeys(),
                Long.MAX_VALUE,
                provider.mostMessageBytes(),
                provider.fence());
        boolean whole = false;
        try {
            long fabric = openFabric();
            domain = openWith("fi_domain", fabric, 24, 56, 8);
            addresses = open("fi_av_open", 8, avAttributes());
            queue = open("fi_cq_open", 16, cqAttributes());
            whole = true;
        } finally {
            if (!whole) {
                closeAll();
            }
        }
    }

    /// Opens a provider on this machine's loopback.
    ///
    /// @param provider its name, of those that [FabricProvider#all()] has
    /// @return without an endpoint yet
    /// @throws FabricException if there is no such provider here, or libfabric is another version
    public static FabricDomain open(String provider) throws FabricException {
        FabricInfo info = FabricInfo.of(provider);
        boolean opened = false;
        try {
            FabricDomain domain = new FabricDomain(info);
            opened = true;
            return domain;
        } finally {
            if (!opened) {
                info.close();
            }
        }
    }

    /// What it was opened of.
    ///
    /// @return the same each time
    public FabricProvider provider() {
        return info.provider();
    }

    @Override
    public Traits traits() {
        return traits;
    }

    /// The endpoint that serves a peer, made with the first call, and again after it was closed.
    ///
    /// @param peer for whom
    /// @return one that no other peer uses
    /// @throws FabricException if the fabric refuses
    public synchronized FabricEndpoint endpoint(Peer peer) throws FabricException {
        checkOpen();
        FabricEndpoint known = endpoints.get(peer);
        if (known != null) {
            return known;
        }
        long endpoint = openWith("fi_endpoint", domain, 24, 96, 24);
        boolean enabled = false;
        try {
            bind(endpoint, queue, TRANSMIT_AND_RECEIVE);
            bind(endpoint, addresses, 0);
            check("fi_enable", (int)
                    handle(CONTROL).invokeExact(common("fi_enable", endpoint, 24), endpoint, ENABLE, 0L));
            FabricEndpoint fresh = new FabricEndpoint(this, endpoint, nameOf(endpoint));
            endpoints.put(peer, fresh);
            enabled = true;
            return fresh;
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        } finally {
            if (!enabled) {
                opened.remove(endpoint);
                Libfabric.close(endpoint);
            }
        }
    }

    @Override
    public synchronized Mark register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        try (Arena own = Arena.ofConfined()) {
            checkOpen();
            MemorySegment out = own.allocate(8, 8);
            int result = (int) handle(REGISTER)
                    .invokeExact(
                            function("fi_mr_reg", domain, 32, 32, 8),
                            domain,
                            slab.address() + offset,
                            length,
                            REMOTE_WRITE,
                            0L,
                            wantedKey,
                            0L,
                            out,
                            0L);
            check("fi_mr_reg", result);
            long object = out.get(JAVA_LONG, 0);
            Region region = new Region(this, object, word(object + 32), peer);
            regions.add(region);
            return region;
        } catch (FabricException refused) {
            throw new RegistrationRefusedException(String.valueOf(refused.getMessage()), refused);
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    /// Closes the registration, and for one that is revoked the endpoint of its peer too: that is the fence. A
    /// provider that was not tried says nothing before it is closed.
    @Override
    public void retire(Mark mark, Ending ending, Runnable memoryIsFree) {
        synchronized (this) {
            Region region = of(mark);
            if (closed) {
                return;
            }
            closeObject("fi_close(mr)", region.object);
            regions.remove(region);
            if (ending == Ending.REVOKED) {
                if (traits.fence() == Fence.NONE) {
                    return;
                }
                FabricEndpoint serving = region.peer == null ? null : endpoints.get(region.peer);
                if (serving != null && traits.fence() == Fence.ENDPOINT) {
                    close(serving);
                }
            }
        }
        memoryIsFree.run();
    }

    /// Lets the fabric work, and takes up what it has done. Never waits.
    ///
    /// @return writes that ended since the last call
    /// @throws FabricException if the fabric refuses
    public synchronized int progress() throws FabricException {
        checkOpen();
        beginWaiting();
        long read = read(completions, COMPLETIONS);
        if (read == -Libfabric.EAVAIL) {
            return readError();
        }
        if (read == -Libfabric.EAGAIN) {
            return 0;
        }
        check("fi_cq_read", read);
        for (int i = 0; i < read; i++) {
            ended(completions.getAtIndex(JAVA_LONG, i), 0);
        }
        return (int) read;
    }

    /// Ends every endpoint, registration and object of it. Again does nothing.
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        for (FabricEndpoint each : List.copyOf(endpoints.values())) {
            close(each);
        }
        for (Region each : List.copyOf(regions)) {
            closeObject("fi_close(mr)", each.object);
            regions.remove(each);
        }
        closed = true;
        closeAll();
        info.close();
    }

    @Override
    public String toString() {
        return "FabricDomain[" + info.provider() + "]";
    }

    synchronized long insert(byte... name) throws FabricException {
        checkOpen();
        try (Arena own = Arena.ofConfined()) {
            MemorySegment found = own.allocate(8, 8);
            int inserted = (int) handle(INSERT)
                    .invokeExact(
                            function("fi_av_insert", addresses, 24, 64, 8),
                            addresses,
                            own.allocateFrom(JAVA_BYTE, name),
                            1L,
                            found,
                            0L,
                            0L);
            if (inserted != 1) {
                throw Libfabric.failed("fi_av_insert", inserted, "nameBytes=" + name.length);
            }
            return found.get(JAVA_LONG, 0);
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    synchronized FabricWrite write(FabricEndpoint from, long peer, long key, long target, MemorySegment bytes)
            throws FabricException {
        checkOpen();
        if (from.isClosed()) {
            throw new FabricException("fi_writemsg", 0, "endpoint is closed");
        }
        FabricWrite write = new FabricWrite(this, from, peer, key, target, bytes, nextWrite);
        if (!begin(write)) {
            waiting.add(write);
        }
        nextWrite++;
        return write;
    }

    /// Hands a write to the fabric.
    ///
    /// @return false if it takes none now: a connection is being made, or its queue is full
    private boolean begin(FabricWrite write) throws FabricException {
        MemorySegment bytes = write.bytes();
        try (Arena own = Arena.ofConfined()) {
            MemorySegment local = own.allocate(16, 8);
            local.set(JAVA_LONG, 0, bytes.address());
            local.set(JAVA_LONG, 8, bytes.byteSize());
            MemorySegment remote = own.allocate(24, 8);
            remote.set(JAVA_LONG, 0, write.target());
            remote.set(JAVA_LONG, 8, bytes.byteSize());
            remote.set(JAVA_LONG, 16, write.key());
            MemorySegment message = own.allocate(64, 8);
            message.set(JAVA_LONG, 0, local.address());
            message.set(JAVA_LONG, 16, 1);
            message.set(JAVA_LONG, 24, write.peer());
            message.set(JAVA_LONG, 32, remote.address());
            message.set(JAVA_LONG, 40, 1);
            message.set(JAVA_LONG, 48, write.id());
            writes.put(write.id(), write);
            MemorySegment writemsg = function("fi_writemsg", write.from().address, 48, 80, 48);
            long result = (long) handle(WRITEMSG)
                    .invokeExact(writemsg, write.from().address, message, COMPLETION | DELIVERY_COMPLETE);
            if (result != 0) {
                writes.remove(write.id());
            }
            if (result != 0 && result != -Libfabric.EAGAIN) {
                throw Libfabric.failed("fi_writemsg", result, "bytes=" + bytes.byteSize());
            }
            return result == 0;
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    /// Those that the fabric did not take, in order.
    private void beginWaiting() {
        for (FabricWrite next = waiting.peek(); next != null; next = waiting.peek()) {
            try {
                if (!next.from().isClosed() && !begin(next)) {
                    return;
                }
                if (next.from().isClosed()) {
                    next.ended(ECANCELED);
                }
            } catch (FabricException refused) {
                next.ended(refused.number());
            }
            waiting.remove();
        }
    }

    synchronized void close(FabricEndpoint endpoint) {
        if (endpoint.isClosed()) {
            return;
        }
        closeObject("fi_close(endpoint)", endpoint.address);
        opened.remove(endpoint.address);
        endpoints.values().remove(endpoint);
        endpoint.closed();
        // what it had under way gets no answer any more
        writes.values().removeIf(write -> {
            boolean its = write.from() == endpoint;
            if (its) {
                write.ended(ECANCELED);
            }
            return its;
        });
    }

    private int readError() throws FabricException {
        error.fill((byte) 0);
        try {
            long read = (long) handle(READ).invokeExact(function("fi_cq_readerr", queue, 24, 64, 24), queue, error, 0L);
            if (read < 1) {
                return 0;
            }
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
        ended(error.get(JAVA_LONG, 0), error.get(JAVA_INT, 56));
        return 1;
    }

    private long read(MemorySegment into, long count) throws FabricException {
        MemorySegment read = function("fi_cq_read", queue, 24, 64, 8);
        try {
            return (long) handle(READ).invokeExact(read, queue, into, count);
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    private void ended(long id, int with) {
        FabricWrite write = writes.remove(id);
        if (write != null) {
            write.ended(with);
        }
    }

    private long openFabric() throws FabricException {
        MemorySegment out = arena.allocate(8, 8);
        try {
            check("fi_fabric", (int)
                    Libfabric.exported("fi_fabric", OPEN_FABRIC).invokeExact(info.fabricAttributes(), out, 0L));
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
        return kept(out);
    }

    /// An object that needs the provider's description.
    private long openWith(String call, long parent, long table, long bytes, long function) throws FabricException {
        MemorySegment out = arena.allocate(8, 8);
        MemorySegment open = function(call, parent, table, bytes, function);
        try {
            check(call, (int) handle(OPEN_WITH_INFO).invokeExact(open, parent, info.address(), out, 0L));
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
        return kept(out);
    }

    /// An object of the domain.
    private long open(String call, long function, MemorySegment attributes) throws FabricException {
        MemorySegment out = arena.allocate(8, 8);
        MemorySegment open = function(call, domain, 24, 96, function);
        try {
            check(call, (int) handle(OPEN).invokeExact(open, domain, attributes, out, 0L));
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
        return kept(out);
    }

    private MemorySegment avAttributes() {
        MemorySegment attributes = arena.allocate(48, 8);
        attributes.set(JAVA_INT, 0, AV_TABLE);
        return attributes;
    }

    private MemorySegment cqAttributes() {
        MemorySegment attributes = arena.allocate(40, 8);
        attributes.set(JAVA_INT, 16, CQ_FORMAT_CONTEXT);
        return attributes;
    }

    private void bind(long endpoint, long object, long flags) throws FabricException {
        MemorySegment bind = common("fi_ep_bind", endpoint, 16);
        try {
            check("fi_ep_bind", (int) handle(BIND).invokeExact(bind, endpoint, object, flags));
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    private byte[] nameOf(long endpoint) throws FabricException {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment name = own.allocate(NAME_BYTES, 8);
            MemorySegment length = own.allocate(8, 8);
            length.set(JAVA_LONG, 0, NAME_BYTES);
            MemorySegment getname = function("fi_getname", endpoint, 32, 80, 16);
            check("fi_getname", (int) handle(GETNAME).invokeExact(getname, endpoint, name, length));
            return name.asSlice(0, length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
        } catch (FabricException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw Libfabric.impossible(thrown);
        }
    }

    private long kept(MemorySegment out) {
        long object = out.get(JAVA_LONG, 0);
        opened.add(object);
        return object;
    }

    /// What is left, the last first.
    private void closeAll() {
        for (int i = opened.size() - 1; i >= 0; i--) {
            closeObject("fi_close", opened.remove(i));
        }
        arena.close();
    }

    private static void closeObject(String call, long object) {
        try {
            int result = Libfabric.close(object);
            if (result != 0) {
                throw new IllegalStateException(call + ": error=" + -result + " " + Libfabric.meaning(-result));
            }
        } catch (FabricException refused) {
            throw new IllegalStateException(refused);
        }
    }

    private Region of(Mark mark) {
        if (mark instanceof Region region && region.domain == this) {
            return region;
        }
        throw new IllegalArgumentException("mark of another device: " + mark);
    }

    private void checkOpen() throws FabricException {
        if (closed) {
            throw new FabricException(
                    "fabric", 0, "domain is closed: provider=" + info.provider().name());
        }
    }

    private static void check(String call, long result) throws FabricException {
        if (result < 0) {
            throw Libfabric.failed(call, result, "");
        }
    }
}
