// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.LinkMessage.Kind;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.registration.Registrations;
import io.bulla.registration.Revocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/// Buffers between this process and one peer by rendezvous: the receiver takes memory, the sender writes into it,
/// and neither side copies.
///
/// ```
/// sender                                   receiver
///   request: size            ---------->     landing, grant
///                            <----------   clear: key, target         or refused: no room
///   write of its regions     =========>     the landing; the key, when all of it is there
///                                            grant over, landing sealed, listener
/// ```
///
/// A fabric that takes the regions in one write tells the receiver the write's number, which is the key, when all of
/// it is in memory. Of several writes, or none, the sender waits for the last answer, and says *finished*. So what is
/// complete never hangs on the order of two operations: a fabric may carry them over two connections.
///
/// Buffers reach the listener in the order of their requests. The link fails as a whole: with what is no message
/// of this kind, an error of the fabric, a buffer that takes longer than the patience, or a verdict on the peer
/// ([#fail]). Then all of the peer's grants are revoked, and its endpoint closed, *before* the listener hears of it;
/// so memory that the peer wrote to is the program's again, or in quarantine. Another link to the same peer begins
/// with [#open].
///
/// Any thread may call it. It goes on in calls of [#progress()] only. The peer is trusted to say *finished* after
/// its last write; with the providers that were tried nothing overtakes it.
public final class FabricLink implements AutoCloseable {

    private static final int RECEIVES = 16;
    private static final String CLOSED = "link is closed";

    /// What a link tells. Called by the thread that is in [#progress()] or [#fail], which holds the link; it may
    /// send.
    public interface Listener {

        /// A buffer has arrived, and is the listener's from now on.
        ///
        /// @param buffer closed by the listener
        void onBufferMoved(SealedBuffer buffer);

        /// The link has failed; its peer can no longer write, except to what is in quarantine.
        ///
        /// @param peer that it led to
        /// @param why one line
        /// @param revoked what became of each grant that the peer had
        void failed(Peer peer, String why, List<Revocation> revoked);
    }

    private record Room(MemorySegment memory, FabricReceive receive) {}

    final FabricDomain domain;
    final Registrations registrations;
    final SlabSource memory;
    final Peer peer;
    final LinkLimits limits;
    final Listener listener;
    final FabricEndpoint endpoint;
    // under this monitor, as all below
    // links: an add that finds no heap leaves the others
    private final Queue<Room> rooms = new LinkedList<>();
    private final LinkArrivals arrivals;
    private final Map<Long, LinkSend> leaving = new LinkedHashMap<>();
    private final List<FabricSend> said = new ArrayList<>();
    private @Nullable Long to;
    private long nextId = 1;
    private @Nullable String broken;

    private FabricLink(
            FabricDomain domain,
            Registrations registrations,
            SlabSource memory,
            Peer peer,
            LinkLimits limits,
            Listener listener)
            throws FabricException {
        this.domain = domain;
        this.registrations = registrations;
        this.memory = memory;
        this.peer = peer;
        this.limits = limits;
        this.listener = listener;
        this.endpoint = domain.endpoint(peer);
        this.arrivals = new LinkArrivals(this);
    }

    /// One end of a link.
    ///
    /// @param domain open as long as this is
    /// @param registrations of the domain
    /// @param memory for what arrives
    /// @param peer at the other end; no other link leads to it
    /// @param limits what the peer may do
    /// @param listener told what arrives
    /// @return not connected yet
    /// @throws FabricException if the fabric refuses
    public static FabricLink open(
            FabricDomain domain,
            Registrations registrations,
            SlabSource memory,
            Peer peer,
            LinkLimits limits,
            Listener listener)
            throws FabricException {
        FabricLink link = new FabricLink(domain, registrations, memory, peer, limits, listener);
        boolean whole = false;
        try {
            for (int i = 0; i < RECEIVES; i++) {
                link.listen();
            }
            whole = true;
            return link;
        } finally {
            if (!whole) {
                link.endpoint.close();
            }
        }
    }

    /// What the peer calls this end by: sent to it by other means.
    ///
    /// @return bytes of the fabric's own format
    public byte[] name() {
        return endpoint.name();
    }

    /// Names the other end.
    ///
    /// @param peersName as its [#name()] says
    /// @throws FabricException if the fabric refuses, or the link has failed
    public synchronized void connect(byte... peersName) throws FabricException {
        checkWhole();
        to = endpoint.connect(peersName);
    }

    /// Asks the peer for memory, and writes the buffer into it when it has some.
    ///
    /// @param buffer may be closed afterwards
    /// @return to be waited for
    /// @throws FabricException if the link has failed, with the reason
    /// @throws IllegalStateException if the link is not connected, or the buffer is closed
    public synchronized LinkSend send(SealedBuffer buffer) throws FabricException {
        checkWhole();
        // the number behind the share, whose listener may call back, and send another one or end the link
        LinkSend send = new LinkSend(this, buffer.share(), nextId++);
        boolean taken = false;
        try {
            checkWhole();
            leaving.put(send.id(), send);
            say(new LinkMessage(Kind.REQUEST, send.id(), send.byteSize(), 0));
            taken = true;
        } finally {
            if (!taken) {
                leaving.remove(send.id());
                send.ended("request was not sent");
            }
        }
        return send;
    }

    /// Lets the fabric work, takes up what the peer has said, and goes on with every buffer. Never waits. What is
    /// wrong ends the link, and is the listener's.
    ///
    /// @throws IllegalStateException as [#fail] does
    public synchronized void progress() {
        if (broken != null) {
            return;
        }
        try {
            domain.progress();
            takeUp();
            arrivals.takeLanded();
            finishWritten();
            forgetSaid();
        } catch (FabricException refused) {
            fail(String.valueOf(refused.getMessage()));
        }
        if (broken == null && arrivals.isLate()) {
            fail("buffer took too long: patienceMs=" + limits.patience().toMillis());
        }
    }

    /// Ends the link because of its peer: a verdict that it has failed. Its grants are revoked and its endpoint is
    /// closed before the listener hears of it. Again does nothing.
    ///
    /// @param why for the listener, and for sends that have not ended
    /// @throws IllegalStateException if the fabric refuses to close the endpoint. The listener has heard by
    ///     then, and what the peer may still write to is in quarantine until the domain is closed
    public synchronized void fail(String why) {
        if (broken != null) {
            return;
        }
        List<Revocation> revoked = new ArrayList<>();
        try {
            end(why, revoked);
        } finally {
            listener.failed(peer, why, List.copyOf(revoked));
        }
    }

    /// Why the link is over.
    ///
    /// @return one line; `null` while it is whole
    public synchronized @Nullable String failure() {
        return broken;
    }

    /// Ends the link; the listener does not hear of it. Again does nothing.
    ///
    /// @throws IllegalStateException if the fabric refuses to close the endpoint, as of [#fail]
    @Override
    public synchronized void close() {
        if (broken == null) {
            end(CLOSED, new ArrayList<>());
        }
    }

    @Override
    public synchronized String toString() {
        return "FabricLink[peer=" + peer + " arriving=" + arrivals.size() + " leaving=" + leaving.size()
                + (broken == null ? "" : " failed=[" + broken + "]") + "]";
    }

    /// No new access first; then the fence; then what hangs on it.
    private void end(String why, List<Revocation> revoked) {
        broken = why;
        try {
            revoked.addAll(registrations.revoke(peer, limits.patience()));
        } finally {
            try {
                endpoint.close();
            } finally {
                letGo(why);
            }
        }
    }

    private void letGo(String why) {
        List<LinkSend> there = List.copyOf(leaving.values());
        leaving.clear();
        Thrown thrown = new Thrown();
        thrown.after(() -> arrivals.letGo(thrown));
        there.forEach(each -> thrown.after(() -> each.ended(why)));
        thrown.rethrow();
    }

    private void listen() throws FabricException {
        // freed when it is out of reach: a receive keeps it
        MemorySegment room = Arena.ofAuto().allocate(LinkMessage.BYTES, 8);
        rooms.add(new Room(room, endpoint.receive(room)));
    }

    void say(LinkMessage message) throws FabricException {
        Long where = to;
        if (where == null) {
            throw new IllegalStateException("link is not connected: peer=" + peer);
        }
        MemorySegment bytes = Arena.ofAuto().allocate(LinkMessage.BYTES, 8);
        message.write(bytes);
        said.add(endpoint.send(where, bytes));
    }

    private void takeUp() throws FabricException {
        for (Room next = rooms.peek(); next != null && next.receive.isDone(); next = rooms.peek()) {
            rooms.remove();
            next.receive.check();
            LinkMessage message = LinkMessage.read(next.memory, next.receive.byteCount());
            if (message == null) {
                throw wrong("no message of a link", next.receive.byteCount());
            }
            listen();
            take(message);
            if (broken != null) {
                return;
            }
        }
    }

    private void take(LinkMessage message) throws FabricException {
        switch (message.kind()) {
            case REQUEST -> arrivals.requested(message);
            case CLEAR -> cleared(message);
            case REFUSED ->
                known(leaving.remove(message.id()), message).ended("peer has no room: bytes=" + message.first());
            case FINISHED -> arrivals.finished(message);
        }
    }

    private void cleared(LinkMessage said) throws FabricException {
        LinkSend send = known(leaving.get(said.id()), said);
        if (send.isCleared()) {
            throw wrong("cleared twice", said);
        }
        send.clear(said);
    }

    /// Goes on with each write. Tells the peer of what is over, if the write has not.
    private void finishWritten() throws FabricException {
        for (LinkSend each : List.copyOf(leaving.values())) {
            if (each.isCleared() && each.isWritten(endpoint, Objects.requireNonNull(to))) {
                if (!each.tells()) {
                    say(new LinkMessage(Kind.FINISHED, each.id(), 0, 0));
                }
                leaving.remove(each.id());
                each.ended(null);
            }
        }
    }

    /// What was said and has left; an error ends the link.
    private void forgetSaid() throws FabricException {
        for (Iterator<FabricSend> all = said.iterator(); all.hasNext(); ) {
            FabricSend each = all.next();
            if (each.isDone()) {
                all.remove();
                each.check();
            }
        }
    }

    private void checkWhole() throws FabricException {
        if (broken != null) {
            throw new FabricException("rendezvous", 0, "link has failed: peer=" + peer + " why=[" + broken + "]");
        }
    }

    <T> T known(@Nullable T transfer, LinkMessage said) throws FabricException {
        if (transfer == null) {
            throw wrong("no such transfer", said);
        }
        return transfer;
    }

    FabricException wrong(String what, Object said) {
        return new FabricException("rendezvous", 0, what + ": peer=" + peer + " said=" + said);
    }
}
