// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.fabric.FabricOperation.Origin;
import io.bulla.fabric.FabricOperation.Piece;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// What one peer has of a fabric: a domain of libfabric's with addresses, a queue of completions and an endpoint. A
/// key is good at every endpoint of a domain, and at no other: so one peer's key is good at its own endpoint only.
/// Under the monitor of its [FabricDomain].
final class PeerDomain {

    /// Makes what stands for an endpoint.
    @FunctionalInterface
    interface Made {
        Origin of(long address, byte... name);
    }

    /// Memory that the peer may write to.
    ///
    /// made --open--> known to the fabric --close--> closed
    static final class Region implements MemoryRegistration {

        private final Object domain;
        private final PeerDomain of;
        private final Peer peer;
        // 0 unless the fabric knows it
        private long object;
        private long key;
        private int place;

        Region(Object domain, PeerDomain of, Peer peer) {
            this.domain = domain;
            this.of = of;
            this.peer = peer;
        }

        /// @param out room for an object
        void open(long address, long length, long wantedKey, MemorySegment out) throws FabricException {
            FabricCalls.register(of.domain, address, length, Libfabric.REMOTE_WRITE, wantedKey, out);
            of.marks++;
            object = out.get(JAVA_LONG, 0);
            key = Libfabric.word(object + 32);
        }

        /// @throws IllegalStateException if the fabric refuses; nothing has changed then
        void close() {
            closeObject("fi_close(mr)", object);
            of.marks--;
            object = 0;
        }

        boolean isClosed() {
            return object == 0;
        }

        Object domain() {
            return domain;
        }

        /// The domain that it belongs to.
        PeerDomain of() {
            return of;
        }

        /// Where it is in the domain's list.
        int place() {
            return place;
        }

        void place(int now) {
            place = now;
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

    static final int ECANCELED = 125;

    private static final long TRANSMIT_AND_RECEIVE = 0x800 | 0x400;
    private static final int CQ_FORMAT_DATA = 3;
    private static final int AV_TABLE = 2;

    private final FabricInfo info;
    // the domain, then what its endpoint needs
    private final List<Long> opened = new ArrayList<>(3);
    private final long domain;
    private long addresses;
    private long queue;
    private @Nullable Origin endpoint;
    private final Map<Long, Piece> underWay = new HashMap<>();
    // never one that was: what is left in a closed endpoint's answers is of no piece
    private long nextPiece = 1;
    private int marks;

    /// @param fabric that is open
    /// @param out room for an object
    PeerDomain(FabricInfo info, long fabric, MemorySegment out) throws FabricException {
        this.info = info;
        FabricCalls.open("fi_domain", fabric, 56, 8, info.address(), out);
        domain = kept(out);
    }

    long queue() {
        return queue;
    }

    @Nullable
    Origin endpoint() {
        return endpoint;
    }

    /// @return open, and this one's from now on
    Origin open(Made made, MemorySegment out) throws FabricException {
        long address = 0;
        boolean enabled = false;
        try (Arena own = Arena.ofConfined()) {
            MemorySegment table = own.allocate(48, 8);
            table.set(JAVA_INT, 0, AV_TABLE);
            FabricCalls.open("fi_av_open", domain, 8, table, out);
            addresses = kept(out);
            MemorySegment format = own.allocate(40, 8);
            format.set(JAVA_INT, 16, CQ_FORMAT_DATA);
            FabricCalls.open("fi_cq_open", domain, 16, format, out);
            queue = kept(out);
            FabricCalls.open("fi_endpoint", domain, 96, 24, info.address(), out);
            address = out.get(JAVA_LONG, 0);
            // first: rxm of 1.17 crashes at the close of an endpoint without addresses
            FabricCalls.bind(address, addresses, 0);
            FabricCalls.bind(address, queue, TRANSMIT_AND_RECEIVE);
            FabricCalls.enable(address);
            Origin fresh = made.of(address, FabricCalls.nameOf(address));
            endpoint = fresh;
            enabled = true;
            return fresh;
        } finally {
            if (!enabled) {
                if (address != 0) {
                    closeObject("fi_close(endpoint)", address);
                }
                closeBehindEndpoint();
            }
        }
    }

    /// @return what got no answer, and gets none any more
    /// @throws IllegalStateException if the fabric refuses; nothing has changed then
    List<Piece> closeEndpoint(Origin old) {
        List<Piece> left = new ArrayList<>(old.waiting.size() + underWay.size());
        closeObject("fi_close(endpoint)", old.address);
        endpoint = null;
        closeBehindEndpoint();
        old.closed = true;
        left.addAll(old.waiting);
        old.waiting.clear();
        left.addAll(underWay.values());
        underWay.clear();
        return left;
    }

    /// What is refused now is closed with the domain.
    private void closeBehindEndpoint() {
        try {
            closeDownTo(1);
        } catch (IllegalStateException later) {
            // no endpoint is bound to it: no peer reaches anything by it
        }
    }

    long insert(byte... name) throws FabricException {
        return FabricCalls.insert(addresses, name);
    }

    /// Those that the fabric did not take, in order: a connection is being made, or its queue is full.
    void beginWaiting(Origin from, Thrown thrown) {
        Queue<Piece> waiting = from.waiting;
        for (Piece next = waiting.peek(); next != null; next = waiting.peek()) {
            int refused = begin(next);
            if (refused == Libfabric.EAGAIN) {
                return;
            }
            waiting.remove();
            if (refused != 0) {
                FabricOperation over = next.of();
                thrown.after(() -> over.ended(refused, 0));
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

    void ended(long id, int with, long bytes, Thrown thrown) {
        Piece piece = underWay.remove(id);
        if (piece != null) {
            thrown.after(() -> piece.of().ended(with, bytes));
        }
    }

    boolean isUnused() {
        return endpoint == null && marks == 0;
    }

    /// Closes what is left, the last first; again after a refusal.
    ///
    /// @throws IllegalStateException if the fabric refuses
    void close() {
        closeDownTo(0);
    }

    private void closeDownTo(int left) {
        while (opened.size() > left) {
            closeObject("fi_close", opened.getLast());
            opened.removeLast();
        }
    }

    private long kept(MemorySegment out) {
        long object = out.get(JAVA_LONG, 0);
        opened.add(object);
        return object;
    }

    static void closeObject(String call, long object) {
        try {
            int result = FabricCalls.close(object);
            if (result != 0) {
                throw new IllegalStateException(call + ": error=" + -result + " " + Libfabric.meaning(-result));
            }
        } catch (FabricException refused) {
            throw new IllegalStateException(refused);
        }
    }
}
