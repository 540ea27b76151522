// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.fabric.FabricOperation.Origin;
import io.bulla.fabric.FabricOperation.Piece;
import io.bulla.fabric.PeerDomain.Region;
import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A provider of libfabric, opened: peers write into its grants.
///
/// ```
/// register: fi_mr_reg for this peer --retire--> fi_close(mr), and fi_close(its endpoint) if it may be writing
/// ```
///
/// Closing the registration ends new access only: bytes of a write that has begun go on arriving, also those of a
/// dead process. So a peer whose grant is revoked loses its endpoint, and needs another one to be served again. A
/// peer's key is good at that endpoint only, from any writer: each peer has a domain of libfabric's
/// of its own.
///
/// Any thread may call it. The fabric makes progress in calls of [#progress()] only.
public final class FabricDomain implements Registrar {

    private static final int COMPLETIONS = 16;
    private static final long LANDED = Libfabric.REMOTE_WRITE | Libfabric.REMOTE_DATA;
    // 0 context  8 flags  16 length  24 buffer  32 data
    private static final int COMPLETION_BYTES = 40;
    private static final int ERROR_BYTES = 80;
    private static final PeerDomain[] NOBODY = {};

    private final FabricInfo info;
    private final DeviceCapabilities capabilities;
    // under this monitor, as all below
    private final Arena arena = Arena.ofShared();
    private final MemorySegment completions = arena.allocate(COMPLETIONS * COMPLETION_BYTES, 8);
    private final MemorySegment error = arena.allocate(ERROR_BYTES, 8);
    private final MemorySegment out = arena.allocate(8, 8);
    private final long fabric;
    private final Map<Peer, PeerDomain> peers = new HashMap<>();
    // the same, for the loop of progress: replaced, never changed
    private PeerDomain[] served = NOBODY;
    // that the fabric did not close when it was asked
    private final List<PeerDomain> leftOver = new ArrayList<>();
    // by the key that a peer writes by: whom to tell that the write has landed
    private final Map<Long, FabricEndpoint> expected = new HashMap<>();
    // in no order: each knows its place
    private final ArrayList<Region> regions = new ArrayList<>();
    // how many calls of progress are in each other: what ends may call back
    private int inProgress;
    private boolean closing;
    private boolean closed;

    private FabricDomain(FabricInfo info) throws FabricException {
        this.info = info;
        FabricProvider provider = info.provider();
        this.capabilities = new DeviceCapabilities(
                "libfabric:" + provider.name(),
                Set.of(Access.REMOTE_WRITE),
                false,
                provider.choosesKeys(),
                Long.MAX_VALUE,
                provider.mostMessageBytes(),
                provider.fence());
        boolean whole = false;
        try {
            FabricCalls.openFabric(info.fabricAttributes(), out);
            fabric = out.get(JAVA_LONG, 0);
            whole = true;
        } finally {
            if (!whole) {
                arena.close();
            }
        }
    }

    /// Opens a provider on this machine's loopback.
    ///
    /// @param provider its name, of those that [FabricProvider#all()] has
    /// @return without an endpoint yet
    /// @throws FabricException if there is no such provider here, it is not offered, or libfabric is too old or new
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

    /// The provider that it was opened of.
    ///
    /// @return the same each time
    public FabricProvider provider() {
        return info.provider();
    }

    @Override
    public DeviceCapabilities capabilities() {
        return capabilities;
    }

    /// The endpoint that serves a peer, made with the first call, and again after it was closed.
    ///
    /// @param peer for whom
    /// @return one that no other peer uses
    /// @throws FabricException if the fabric refuses
    public synchronized FabricEndpoint endpoint(Peer peer) throws FabricException {
        checkOpen();
        PeerDomain of = domainOf(peer);
        try {
            Origin known = of.endpoint();
            return (FabricEndpoint)
                    (known == null
                            ? of.open((address, name) -> new FabricEndpoint(this, of, address, name), out)
                            : known);
        } finally {
            closeIfUnused(of);
        }
    }

    @Override
    public synchronized MemoryRegistration register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        if (peer == null) {
            throw new RegistrationRefusedException("memory is registered for a peer only: access=" + access);
        }
        try {
            checkOpen();
            PeerDomain of = domainOf(peer);
            try {
                Region region = new Region(this, of, peer);
                regions.ensureCapacity(regions.size() + 1);
                region.open(slab.address() + offset, length, wantedKey, out);
                region.place(regions.size());
                regions.add(region);
                return region;
            } finally {
                closeIfUnused(of);
            }
        } catch (FabricException refused) {
            throw new RegistrationRefusedException(String.valueOf(refused.getMessage()), refused);
        }
    }

    /// Closes the registration, and for one that is revoked the endpoint of its peer too: that is the fence. A
    /// provider that was not tried says nothing before it is closed.
    @Override
    public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
        Thrown thrown = new Thrown();
        synchronized (this) {
            Region region = of(mark);
            if (region.isClosed()) {
                // closed with the domain, whose end says so
                return;
            }
            close(region);
            if (reason == RetireReason.REVOKED) {
                if (capabilities.fence() == Fence.NONE) {
                    return;
                }
                if (capabilities.fence() == Fence.ENDPOINT) {
                    closeEndpoint(region.of(), thrown);
                }
            }
            closeIfUnused(region.of());
        }
        thrown.after(memoryIsFree);
        thrown.rethrow();
    }

    /// Lets the fabric work, and takes up what it has done. Never waits.
    ///
    /// @return operations, or pieces of them, that ended
    /// @throws FabricException if the fabric refuses
    public synchronized int progress() throws FabricException {
        checkOpen();
        int ended = 0;
        FabricException refused = null;
        Thrown thrown = new Thrown();
        MemorySegment into = inProgress == 0 ? completions : Arena.ofAuto().allocate(completions.byteSize(), 8);
        inProgress++;
        try {
            // all of them, whatever one of them does
            for (PeerDomain each : served) {
                try {
                    ended += progress(each, into, thrown);
                } catch (FabricException failed) {
                    refused = refused == null ? failed : refused;
                }
            }
        } finally {
            inProgress--;
        }
        thrown.rethrow();
        if (refused != null) {
            throw refused;
        }
        return ended;
    }

    private int progress(PeerDomain of, MemorySegment into, Thrown thrown) throws FabricException {
        Origin endpoint = of.endpoint();
        if (endpoint == null) {
            // none, or closed by what another one's operation called
            return 0;
        }
        of.beginWaiting(endpoint, thrown);
        if (endpoint.closed) {
            return 0;
        }
        long read = FabricCalls.read(of.queue(), into, COMPLETIONS);
        if (read == -Libfabric.EAVAIL) {
            return readError(of, thrown);
        }
        if (read == -Libfabric.EAGAIN) {
            return 0;
        }
        if (read < 0) {
            throw Libfabric.failed("fi_cq_read", read, "");
        }
        // a domain that was closed by what an operation called has ended the rest
        for (long at = 0; at < read * COMPLETION_BYTES && !closed; at += COMPLETION_BYTES) {
            if ((into.get(JAVA_LONG, at + 8) & LANDED) == LANDED) {
                landed(of, into.get(JAVA_LONG, at + 32));
            } else {
                of.ended(into.get(JAVA_LONG, at), 0, into.get(JAVA_LONG, at + 16), thrown);
            }
        }
        return (int) read;
    }

    /// A peer's write that says so itself is in this process's memory. One by a key that is not expected of this
    /// peer, or not any more, is none of an endpoint's.
    private void landed(PeerDomain of, long key) {
        FabricEndpoint by = expected.get(key);
        if (by != null && by.of() == of) {
            by.landed.add(key);
            expected.remove(key);
        }
    }

    /// From now on an endpoint is told when a write by this key, which says so itself, has landed: once.
    synchronized void expect(long key, FabricEndpoint by) {
        expected.put(key, by);
    }

    synchronized void expectNoMore(long key) {
        expected.remove(key);
    }

    /// @return the key of a write that has landed, in their order; `null` if there is none
    synchronized @Nullable Long nextLanded(FabricEndpoint by) {
        return by.landed.poll();
    }

    /// Whether writes can say themselves that they have landed.
    boolean carriesNumbers() {
        return info.carriesNumbers();
    }

    /// Ends every endpoint, registration and object of it. Again does nothing.
    @Override
    public synchronized void close() {
        Thrown thrown = new Thrown();
        closing = true;
        for (PeerDomain each : served) {
            closeEndpoint(each, thrown);
        }
        // what an operation called may have closed it, too
        if (!closed) {
            while (!regions.isEmpty()) {
                close(regions.getLast());
            }
            for (PeerDomain each : served) {
                closeIfUnused(each);
            }
            while (!leftOver.isEmpty()) {
                leftOver.getLast().close();
                leftOver.removeLast();
            }
            PeerDomain.closeObject("fi_close(fabric)", fabric);
            closed = true;
            arena.close();
            info.close();
        }
        thrown.rethrow();
    }

    @Override
    public String toString() {
        return "FabricDomain[" + info.provider() + "]";
    }

    synchronized long insert(FabricEndpoint from, byte... name) throws FabricException {
        checkOpen(from);
        return from.of().insert(name);
    }

    int mostRegions() {
        return info.mostRegions();
    }

    /// Takes an operation on; after an exception its memory is let go.
    synchronized <T extends FabricOperation> T begin(FabricEndpoint from, T operation, int pieces)
            throws FabricException {
        boolean taken = false;
        try {
            checkOpen(from);
            for (int i = 0; i < pieces; i++) {
                from.waiting.add(new Piece(operation, i));
            }
            taken = true;
        } finally {
            if (!taken) {
                while (!from.waiting.isEmpty() && from.waiting.getLast().of() == operation) {
                    from.waiting.removeLast();
                }
                operation.over(0);
            }
        }
        Thrown thrown = new Thrown();
        from.of().beginWaiting(from, thrown);
        thrown.rethrow();
        return operation;
    }

    synchronized void close(FabricEndpoint endpoint) {
        if (endpoint.closed) {
            return;
        }
        Thrown thrown = new Thrown();
        closeEndpoint(endpoint.of(), thrown);
        thrown.rethrow();
    }

    /// @param thrown what the holders of its operations' memory threw
    private void closeEndpoint(PeerDomain of, Thrown thrown) {
        Origin endpoint = of.endpoint();
        if (endpoint == null) {
            return;
        }
        List<Piece> left = of.closeEndpoint(endpoint);
        expected.values().removeIf(by -> by == endpoint);
        closeIfUnused(of);
        for (Piece each : left) {
            thrown.after(() -> each.of().ended(PeerDomain.ECANCELED, 0));
        }
    }

    private int readError(PeerDomain of, Thrown thrown) throws FabricException {
        error.fill((byte) 0);
        if (FabricCalls.readError(of.queue(), error) < 1) {
            return 0;
        }
        of.ended(error.get(JAVA_LONG, 0), error.get(JAVA_INT, 56), 0, thrown);
        return 1;
    }

    private PeerDomain domainOf(Peer peer) throws FabricException {
        PeerDomain known = peers.get(peer);
        if (known != null) {
            return known;
        }
        PeerDomain[] more = Arrays.copyOf(served, served.length + 1);
        PeerDomain fresh = new PeerDomain(info, fabric, out);
        boolean kept = false;
        try {
            peers.put(peer, fresh);
            kept = true;
        } finally {
            if (!kept) {
                fresh.close();
            }
        }
        more[served.length] = fresh;
        served = more;
        return fresh;
    }

    /// A peer that is over leaves nothing behind. What the fabric does not close now is closed with this.
    private void closeIfUnused(PeerDomain of) {
        if (of.isUnused() && peers.values().remove(of)) {
            served = Stream.of(served).filter(each -> each != of).toArray(PeerDomain[]::new);
            leftOver.add(of);
            try {
                of.close();
                leftOver.remove(of);
            } catch (IllegalStateException later) {
                // it has no endpoint and no registration: no peer reaches anything by it
            }
        }
    }

    /// Closes its object; the last one of the list takes its place.
    private void close(Region old) {
        old.close();
        Region last = regions.removeLast();
        if (last != old) {
            regions.set(old.place(), last);
            last.place(old.place());
        }
    }

    private Region of(MemoryRegistration mark) {
        if (mark instanceof Region region && region.domain() == this) {
            return region;
        }
        throw new IllegalArgumentException("mark of another device: " + mark);
    }

    private void checkOpen() throws FabricException {
        if (closing) {
            throw new FabricException(
                    "fabric", 0, "domain is closed: provider=" + info.provider().name());
        }
    }

    private void checkOpen(FabricEndpoint from) throws FabricException {
        checkOpen();
        if (from.closed) {
            throw new FabricException("fi_write", 0, "endpoint is closed");
        }
    }
}
