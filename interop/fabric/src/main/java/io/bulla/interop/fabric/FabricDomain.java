// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.fabric;

import static io.bulla.interop.fabric.Libfabric.word;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.interop.fabric.FabricEndpoint.Piece;
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
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A provider of libfabric, opened: peers write into its grants.
///
/// ```
/// register: fi_mr_reg for this peer --retire--> fi_close(mr), and fi_close(its endpoint) if it may be writing
/// ```
///
/// Closing the registration ends new access only: bytes of a write that has begun go on arriving, also those of
/// a dead process. So a peer whose grant is revoked loses its endpoint, and needs another one to be served again.
///
/// Any thread may call it. The fabric makes progress in calls of [#progress()] only.
public final class FabricDomain implements Registrar {

    static final long COMPLETION = 1L << 24;

    static final long REMOTE_DATA = 1L << 17;

    private static final long REMOTE_WRITE = 0x2000;
    private static final long TRANSMIT_AND_RECEIVE = 0x800 | 0x400;
    private static final int ECANCELED = 125;
    private static final int CQ_FORMAT_DATA = 3;
    private static final int AV_TABLE = 2;
    private static final int COMPLETIONS = 16;
    // 0 context  8 flags  16 length  24 buffer  32 data
    private static final int COMPLETION_BYTES = 40;
    private static final int ERROR_BYTES = 80;

    private static final class Region implements Mark {

        private final FabricDomain domain;
        private final long object;
        private final long key;
        private final @Nullable Peer peer;
        // in the domain's list
        private int at;

        Region(FabricDomain domain, long object, @Nullable Peer peer) {
            this.domain = domain;
            this.object = object;
            this.key = word(object + 32);
            this.peer = peer;
        }

        @Override
        public long key() {
            return key;
        }

        @Override
        public String toString() {
            return "Region[key=" + Long.toHexString(key) + " peer=" + peer + "]";
        }
    }

    private final FabricInfo info;
    private final Traits traits;
    // under this monitor, as all below
    private final Arena arena = Arena.ofShared();
    private final MemorySegment completions = arena.allocate(COMPLETIONS * COMPLETION_BYTES, 8);
    private final MemorySegment error = arena.allocate(ERROR_BYTES, 8);
    private final MemorySegment out = arena.allocate(8, 8);
    private final List<Long> opened = new ArrayList<>();
    private final Map<Peer, FabricEndpoint> endpoints = new HashMap<>();
    private final Map<Long, Piece> underWay = new HashMap<>();
    // by the key that a peer writes by: whom to tell that the write has landed
    private final Map<Long, FabricEndpoint> expected = new HashMap<>();
    // in no order: each knows its place
    private final List<Region> regions = new ArrayList<>();
    private final long domain;
    private final long addresses;
    private final long queue;
    private long nextPiece = 1;
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
            FabricCalls.openFabric(info.fabricAttributes(), out);
            long fabric = kept();
            FabricCalls.open("fi_domain", fabric, 56, 8, info.address(), out);
            domain = kept();
            FabricCalls.open("fi_av_open", domain, 8, avAttributes(), out);
            addresses = kept();
            FabricCalls.open("fi_cq_open", domain, 16, cqAttributes(), out);
            queue = kept();
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
        FabricCalls.open("fi_endpoint", domain, 96, 24, info.address(), out);
        long endpoint = kept();
        boolean enabled = false;
        try {
            FabricCalls.bind(endpoint, queue, TRANSMIT_AND_RECEIVE);
            FabricCalls.bind(endpoint, addresses, 0);
            FabricCalls.enable(endpoint);
            FabricEndpoint fresh = new FabricEndpoint(this, endpoint, FabricCalls.nameOf(endpoint));
            endpoints.put(peer, fresh);
            enabled = true;
            return fresh;
        } finally {
            if (!enabled) {
                opened.remove(endpoint);
                FabricCalls.close(endpoint);
            }
        }
    }

    @Override
    public synchronized Mark register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        try {
            checkOpen();
            FabricCalls.register(domain, slab.address() + offset, length, REMOTE_WRITE, wantedKey, out);
            long object = out.get(JAVA_LONG, 0);
            boolean known = false;
            try {
                Region region = new Region(this, object, peer);
                region.at = regions.size();
                regions.add(region);
                known = true;
                return region;
            } finally {
                if (!known) {
                    FabricCalls.close(object);
                }
            }
        } catch (FabricException refused) {
            throw new RegistrationRefusedException(String.valueOf(refused.getMessage()), refused);
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
            forget(region);
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
    /// @return operations, or pieces of them, that ended
    /// @throws FabricException if the fabric refuses
    public synchronized int progress() throws FabricException {
        checkOpen();
        for (FabricEndpoint each : endpoints.values()) {
            beginWaiting(each);
        }
        long read = FabricCalls.read(queue, completions, COMPLETIONS);
        if (read == -Libfabric.EAVAIL) {
            return readError();
        }
        if (read == -Libfabric.EAGAIN) {
            return 0;
        }
        if (read < 0) {
            throw Libfabric.failed("fi_cq_read", read, "");
        }
        for (long at = 0; at < read * COMPLETION_BYTES; at += COMPLETION_BYTES) {
            if ((completions.get(JAVA_LONG, at + 8) & (REMOTE_WRITE | REMOTE_DATA)) == (REMOTE_WRITE | REMOTE_DATA)) {
                landed(completions.get(JAVA_LONG, at + 32));
            } else {
                ended(completions.get(JAVA_LONG, at), 0, completions.get(JAVA_LONG, at + 16));
            }
        }
        return (int) read;
    }

    /// A peer's write that says so itself is in this process's memory. One by a key that is not expected, or not
    /// any more, is none of an endpoint's.
    private void landed(long key) {
        FabricEndpoint by = expected.get(key);
        if (by != null) {
            by.landed().add(key);
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
        return by.landed().poll();
    }

    /// Whether writes can say themselves that they have landed.
    boolean carriesNumbers() {
        return info.carriesNumbers();
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
        while (!regions.isEmpty()) {
            closeObject("fi_close(mr)", regions.getLast().object);
            regions.removeLast();
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
        return FabricCalls.insert(addresses, name);
    }

    int mostRegions() {
        return info.mostRegions();
    }

    /// Takes an operation on; after an exception its memory is let go.
    synchronized <T extends FabricOperation> T begin(T operation, int pieces) throws FabricException {
        boolean taken = false;
        FabricEndpoint from = operation.from();
        try {
            checkOpen();
            if (from.isClosed()) {
                throw new FabricException("fi_write", 0, "endpoint is closed");
            }
            for (int i = 0; i < pieces; i++) {
                from.waiting().add(new Piece(operation, i));
            }
            taken = true;
        } finally {
            if (!taken) {
                operation.over(0);
            }
        }
        beginWaiting(from);
        return operation;
    }

    /// Those that the fabric did not take, in order: a connection is being made, or its queue is full.
    private void beginWaiting(FabricEndpoint endpoint) {
        Queue<Piece> waiting = endpoint.waiting();
        for (Piece next = waiting.peek(); next != null; next = waiting.peek()) {
            int refused = begin(next);
            if (refused == Libfabric.EAGAIN) {
                return;
            }
            waiting.remove();
            if (refused != 0) {
                next.of().ended(refused, 0);
            }
        }
    }

    /// @return libfabric's number, 0 if it has taken the piece
    private int begin(Piece piece) {
        long id = nextPiece;
        boolean taken = false;
        try (Arena own = Arena.ofConfined()) {
            // first: its end may be told before the call is over
            underWay.put(id, piece);
            long result = piece.of().begin(own, piece.index(), id);
            taken = result == 0;
            nextPiece++;
            return (int) -result;
        } catch (FabricException refused) {
            return refused.number() == 0 ? ECANCELED : refused.number();
        } finally {
            if (!taken) {
                underWay.remove(id);
            }
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
        expected.values().removeIf(by -> by == endpoint);
        // what it had under way gets no answer any more
        List<Piece> left = new ArrayList<>(endpoint.waiting());
        endpoint.waiting().clear();
        underWay.values().removeIf(piece -> piece.of().from() == endpoint && left.add(piece));
        left.forEach(piece -> piece.of().ended(ECANCELED, 0));
    }

    private int readError() throws FabricException {
        error.fill((byte) 0);
        if (FabricCalls.readError(queue, error) < 1) {
            return 0;
        }
        ended(error.get(JAVA_LONG, 0), error.get(JAVA_INT, 56), 0);
        return 1;
    }

    private void ended(long id, int with, long bytes) {
        Piece piece = underWay.remove(id);
        if (piece != null) {
            piece.of().ended(with, bytes);
        }
    }

    private MemorySegment avAttributes() {
        MemorySegment attributes = arena.allocate(48, 8);
        attributes.set(JAVA_INT, 0, AV_TABLE);
        return attributes;
    }

    private MemorySegment cqAttributes() {
        MemorySegment attributes = arena.allocate(40, 8);
        attributes.set(JAVA_INT, 16, CQ_FORMAT_DATA);
        return attributes;
    }

    private long kept() {
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
            int result = FabricCalls.close(object);
            if (result != 0) {
                throw new IllegalStateException(call + ": error=" + -result + " " + Libfabric.meaning(-result));
            }
        } catch (FabricException refused) {
            throw new IllegalStateException(refused);
        }
    }

    /// The last one takes its place.
    private void forget(Region old) {
        Region last = regions.removeLast();
        if (last != old) {
            regions.set(old.at, last);
            last.at = old.at;
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
}
