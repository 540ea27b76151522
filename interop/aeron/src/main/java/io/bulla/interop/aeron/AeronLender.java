// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.lending.SlabPeer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jspecify.annotations.Nullable;

/// Lends buffers to another process of this host with 48 bytes over Aeron IPC, whatever the buffer's size: no system
/// call, and no copy.
///
/// ```java
/// SlabPeer peer = lender.accept(patience);
/// AeronLender places = AeronLender.over(
///         peer, aeron.addExclusivePublication("aeron:ipc", 10), aeron.addSubscription("aeron:ipc", 11));
/// while (!places.lend(message)) {
///     idle.idle(places.poll());
/// }
/// ```
///
/// The other process has an [AeronBorrower]. A *place* names a lease: the slab, and where in it the bytes lie. Places
/// go over a publication, returns of leases come on a subscription. The unix socket of the [SlabPeer] stays for what
/// only it can do: slabs, sealed files, retirement of slabs, and the end. Leases, quota and what is checked are as
/// there; each word of the borrower's is held against the lender's own table, and the first that is not true cuts it
/// off.
///
/// **When Aeron does not take a place** (no image yet, back pressure, closed, its driver gone) it goes over the
/// socket, by itself. After back pressure Aeron is used again. After a loss the socket carries everything until the
/// end of the connection: what was under way is said again there, once. The order of messages is that of [#lend],
/// whichever way each of them went.
///
/// **Who can write to Aeron's log buffers can forge places and returns.** So both processes, and the driver, are
/// of one user, and Aeron's folder is that user's alone.
///
/// Neither side wakes the other: both poll. Returns are taken in by [#lend] and [#poll], and by no thread of Aeron's.
/// The publication, the subscription and the peer stay the caller's; no other publisher, subscriber or peer uses
/// them, and nothing is lent or sent by the [SlabPeer] itself from now on. Thread-safe: calls take turns, and none
/// waits for the borrower.
public final class AeronLender {

    private static final long NONE = Long.MAX_VALUE;
    private static final int TAKEN_BEFORE_LENDING = 8;
    /// Back pressure that is over sooner costs less than the socket: often it is the driver's thread that is behind.
    private static final long FULL_NANOS = 100_000;

    private final SlabPeer peer;
    private final ExclusivePublication places;
    private final Subscription returns;
    private final Heard heard = new Heard();
    private final FragmentHandler onReturn = this::onReturn;
    private final Object lock = new Object();

    // from here on under the lock
    private final UnderWay said = new UnderWay(SlabPeer.RECORD_BYTES);
    private final BufferClaim claim = new BufferClaim();
    // of the word that says a number, which has no record
    private final ByteBuffer noRecord = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
    private boolean inside;
    private @Nullable Image image;
    private int returnsSession;
    private boolean borrowerReads;
    private boolean sessionTold;
    private boolean over;
    private boolean overTold;
    // the first place that has not gone out
    private long toGo;
    private long received;
    private long receivedTold;
    private long byAeron;
    // since when Aeron has had no room; 0 while it has
    private long fullSince;

    /// What the lender's thread has heard, until a thread that lends or polls comes to it.
    private static final class Heard {

        // all under the monitor; the first is also looked at without it
        private volatile boolean any;
        private boolean reads;
        private int session;
        private long over = -1;
        private long arrived;
        private boolean unknown;

        synchronized void onWord(int what, long value) {
            switch (what) {
                case Way.SESSION -> {
                    reads = true;
                    session = (int) value;
                }
                case Way.OVER -> over = value < 0 ? NONE : value;
                case Way.ARRIVED -> arrived = value < 0 ? NONE : Math.max(arrived, value);
                default -> unknown = true;
            }
            // volatile: looked at without the monitor; what it stands for is read under it
            any = true;
        }
    }

    private AeronLender(SlabPeer peer, ExclusivePublication places, Subscription returns) {
        this.peer = Objects.requireNonNull(peer, "peer");
        this.places = Objects.requireNonNull(places, "places");
        this.returns = Objects.requireNonNull(returns, "returns");
    }

    /// Lends to a borrower by Aeron. Until its [AeronBorrower] has said that it reads places, they go over the
    /// socket.
    ///
    /// @param peer that has connected, and was lent nothing yet
    /// @param places a publication for it alone, of IPC
    /// @param returns the subscription on which its returns come
    /// @return has nothing to be closed
    public static AeronLender over(SlabPeer peer, ExclusivePublication places, Subscription returns) {
        AeronLender lender = new AeronLender(peer, places, returns);
        peer.onWords(lender.heard::onWord);
        return lender;
    }

    /// Lends a buffer, as [SlabPeer#lend(SealedBuffer)]: the lease is the borrower's until it gives it back or its
    /// string hangs up. Takes in some returns first. Does not wait: what has no room now goes with the next call of
    /// this, or of [#poll].
    ///
    /// @param buffer open; the handle stays the caller's
    /// @return false if it cannot be lent now: it is not one region of the lender's source or of a sealed file, the
    ///     quota is used up, the borrower is just told to unmap the slab, or does not say that anything of the last
    ///     1,024 messages has arrived. Nothing has gone out then
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException if the system refuses; nothing has gone out
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    /// @throws IllegalStateException if a listener of handles calls this from within it
    public boolean lend(SealedBuffer buffer) throws PosixException {
        synchronized (lock) {
            enter();
            try {
                turn(TAKEN_BEFORE_LENDING);
                if (said.isFull() && (takeReturns(Integer.MAX_VALUE) == 0 || said.isFull())) {
                    return false;
                }
                boolean lent = peer.lend(buffer, said.room());
                if (!lent && takeReturns(Integer.MAX_VALUE) > 0) {
                    lent = peer.lend(buffer, said.room());
                }
                if (lent) {
                    said.said();
                    say();
                }
                return lent;
            } finally {
                inside = false;
            }
        }
    }

    /// Takes in the returns that have come, and sends what had no room before. To be called while nothing is
    /// lent, too: leases of returns that are not taken in stay out.
    ///
    /// @return how many returns were taken in, for an idle strategy
    /// @throws PosixException.PeerClosed if the borrower is gone, and something was to go to it
    /// @throws IllegalStateException if a listener of handles calls this from within it
    public int poll() throws PosixException {
        synchronized (lock) {
            enter();
            try {
                return turn(Integer.MAX_VALUE);
            } finally {
                inside = false;
            }
        }
    }

    /// Whether the next place goes over Aeron, if there is no back pressure.
    ///
    /// @return false before the borrower reads places, and after Aeron was lost
    public boolean isOverAeron() {
        synchronized (lock) {
            return isLive();
        }
    }

    /// How many places Aeron has taken.
    ///
    /// @return at least 0; the others went, or go, over the socket
    public long byAeron() {
        synchronized (lock) {
            return byAeron;
        }
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "AeronLender[" + peer + " places: " + said + " by-aeron=" + byAeron + " returns: " + received
                    + (over ? " over" : "") + "]";
        }
    }

    private void enter() {
        if (inside) {
            throw new IllegalStateException("called from within: " + peer);
        }
        inside = true;
    }

    /// @return how many returns were taken in
    private int turn(int limit) throws PosixException {
        // volatile: as in Heard
        if (heard.any) {
            listen();
        }
        // what is there is not read: that shows here, also if nothing more is lent
        over |= isLive() && !places.isConnected();
        int taken = takeReturns(limit);
        if (!sessionTold || over != overTold || toGo < said.next() || received - receivedTold >= Way.TOLD_EACH) {
            say();
        }
        return taken;
    }

    private boolean isLive() {
        return image != null && !over;
    }

    private void listen() {
        long end;
        synchronized (heard) {
            heard.any = false;
            end = heard.over;
            heard.over = -1;
            if (heard.unknown || !said.arrived(heard.arrived)) {
                peer.cutOff(
                        "a word of no meaning, or more places than there were: arrived=" + heard.arrived + " " + said);
                return;
            }
            returnsSession = heard.session;
            borrowerReads = heard.reads;
        }
        if (end >= 0) {
            onOver(end);
        }
        if (borrowerReads && image == null && !over) {
            image = returns.imageBySessionId(returnsSession);
        }
    }

    /// The borrower has lost Aeron: what it has not got goes over the socket.
    private void onOver(long arrived) {
        // it may have said later that more have come, which was heard first
        if (!said.arrived(arrived)) {
            peer.cutOff("places that were not under way: arrived=" + arrived + " " + said);
            return;
        }
        over = true;
        toGo = Math.min(toGo, said.first());
    }

    private int takeReturns(int limit) {
        Image from = image;
        if (from == null) {
            // it may have come later than the borrower's word
            image = borrowerReads && !over ? returns.imageBySessionId(returnsSession) : null;
            return 0;
        }
        int taken = 0;
        while (!over && taken < limit) {
            long before = from.position();
            int read = from.poll(onReturn, limit - taken);
            taken += read;
            // at the end of a term it reads nothing but the padding
            if (read == 0 && (from.isClosed() || from.position() == before)) {
                over |= from.isClosed();
                break;
            }
        }
        return taken;
    }

    /// One return. Each word is read once: what is checked is what is used.
    private void onReturn(DirectBuffer log, int offset, int length, Header header) {
        if (over) {
            return;
        }
        long number = length == Way.RETURN_BYTES ? log.getLong(offset + Way.NUMBER_AT, ByteOrder.BIG_ENDIAN) : -1;
        if (number > received) {
            // some before it were lost: they come again, over the socket
            over = true;
        } else if (number < received) {
            lied("a return twice, or of no length: number=" + number + " length=" + length + " returns=" + received);
        } else if (!said.arrived(log.getLong(offset + Way.ARRIVED_AT, ByteOrder.BIG_ENDIAN))) {
            lied("more places than there were: " + said);
        } else {
            int slot = log.getInt(offset + Way.RECORD_AT, ByteOrder.BIG_ENDIAN);
            int generation = log.getInt(offset + Way.RECORD_AT + 4, ByteOrder.BIG_ENDIAN);
            long slab = log.getLong(offset + Way.RECORD_AT + 8, ByteOrder.BIG_ENDIAN);
            received++;
            over |= !peer.giveBack(slot, generation, slab);
        }
    }

    private void lied(String lie) {
        over = true;
        peer.cutOff(lie);
    }

    private boolean offer(long number) {
        try {
            long answer = places.tryClaim(Way.PLACE_BYTES, claim);
            if (answer == Publication.ADMIN_ACTION) {
                // the log has turned to its next term
                answer = places.tryClaim(Way.PLACE_BYTES, claim);
            }
            if (answer < 0) {
                over |= answer != Publication.ADMIN_ACTION && answer != Publication.BACK_PRESSURED;
                return false;
            }
        } catch (RuntimeException closed) {
            over = true;
            return false;
        }
        MutableDirectBuffer log = claim.buffer();
        int at = claim.offset();
        ByteBuffer record = said.at(number);
        log.putLong(at + Way.NUMBER_AT, number, ByteOrder.BIG_ENDIAN);
        log.putLong(at + Way.ARRIVED_AT, received, ByteOrder.BIG_ENDIAN);
        log.putBytes(at + Way.RECORD_AT, record, record.position(), SlabPeer.RECORD_BYTES);
        claim.commit();
        return true;
    }

    /// What is to be said, as far as that goes now. What fails after a place is lent is made good here, at the next
    /// turn.
    private void say() throws PosixException {
        try {
            if (!sessionTold) {
                sessionTold = peer.tell(Way.SESSION, places.sessionId(), 0, noRecord);
            }
            while (toGo < said.next() && goesOut(toGo)) {
                toGo++;
                receivedTold = received;
            }
            if (over && !overTold) {
                overTold = peer.tell(Way.OVER, received, 0, noRecord);
            }
            if (received - receivedTold >= Way.TOLD_EACH && peer.tell(Way.ARRIVED, received, 0, noRecord)) {
                receivedTold = received;
            }
        } catch (PosixException.PeerClosed gone) {
            throw gone;
        } catch (PosixException notNow) {
            // nothing has gone out: the next turn says it
        }
    }

    private boolean goesOut(long number) throws PosixException {
        if (isLive() && offer(number)) {
            byAeron++;
            fullSince = 0;
            return true;
        }
        if (isLive()) {
            long now = System.nanoTime() | 1;
            fullSince = fullSince == 0 ? now : fullSince;
            if (now - fullSince < FULL_NANOS) {
                return false;
            }
        }
        return peer.tell(Way.PLACE, number, received, said.at(number));
    }
}
