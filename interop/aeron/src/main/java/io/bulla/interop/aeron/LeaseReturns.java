// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import io.bulla.posix.lending.SlabBorrower;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.MutableDirectBuffer;

/// The leases that a borrower gives back on a publication. Any thread gives back, the one that polls does the rest.
///
/// ```
/// not begun --a place has come over Aeron: the lender reads--> begun --lost, or the end--> ended: all by the socket
/// ```
final class LeaseReturns {

    private static final int RECORD_BYTES = 16;
    private static final long NONE = Long.MAX_VALUE;
    // so many arrivals are taken in at once
    private static final int TAKEN_EACH = 64;

    private final ExclusivePublication publication;
    // volatile: of the thread that polls, looked at by those that give back; an older one is true, too
    private volatile long arrivedHere;
    // of the thread that polls
    private long taken;
    private boolean begunHere;

    // from here on under the monitor
    private final UnderWay said = new UnderWay(RECORD_BYTES);
    private final BufferClaim claim = new BufferClaim();
    private boolean begun;
    private boolean ended;
    private boolean lost;
    private long told;
    // the first that goes over the socket after all, and has not gone
    private long again = NONE;

    LeaseReturns(ExclusivePublication publication) {
        this.publication = publication;
    }

    int session() {
        return publication.sessionId();
    }

    boolean isConnected() {
        return publication.isConnected();
    }

    /// The lender reads them: it has the image, or would not have sent a place this way.
    void begin() {
        if (!begunHere) {
            begunHere = true;
            synchronized (this) {
                begun = true;
            }
        }
    }

    /// So many messages have come.
    void arrivedHere(long messages) {
        // volatile: as above
        arrivedHere = messages;
    }

    /// How many the lender has been told of.
    synchronized long told() {
        return told;
    }

    /// Whether the publication can take no more, or what it took is not read.
    synchronized boolean isLost() {
        lost |= begun && !ended && !publication.isConnected();
        return lost;
    }

    /// From now on all goes over the socket.
    synchronized void end() {
        ended = true;
    }

    /// @return false if it goes over the socket; nothing was given back then
    synchronized boolean giveBack(int slot, int generation, long slab) {
        if (!begun || ended || said.isFull()) {
            return false;
        }
        long answer = Publication.CLOSED;
        try {
            answer = publication.tryClaim(Way.RETURN_BYTES, claim);
        } catch (RuntimeException closed) {
            // as an answer
        }
        if (answer < 0) {
            // the next one may come through
            lost = answer != Publication.BACK_PRESSURED && answer != Publication.ADMIN_ACTION;
            ended = lost;
            return false;
        }
        // volatile: as above
        long arrived = arrivedHere;
        ByteBuffer record = said.room();
        int from = record.position();
        record.putInt(from, slot).putInt(from + 4, generation).putLong(from + 8, slab);
        MutableDirectBuffer log = claim.buffer();
        int at = claim.offset();
        log.putLong(at + Way.NUMBER_AT, said.said(), ByteOrder.BIG_ENDIAN);
        log.putLong(at + Way.ARRIVED_AT, arrived, ByteOrder.BIG_ENDIAN);
        log.putBytes(at + Way.RECORD_AT, record, from, RECORD_BYTES);
        told = arrived;
        claim.commit();
        return true;
    }

    /// The lender has so many.
    ///
    /// @return false if there were not so many
    boolean arrived(long upTo) {
        if (upTo >= taken && upTo - taken < TAKEN_EACH) {
            // soon; a lie shows then
            return true;
        }
        synchronized (this) {
            boolean holds = said.arrived(upTo);
            taken = holds ? Math.max(taken, upTo) : taken;
            return holds;
        }
    }

    /// The lender has lost Aeron with so many arrived; the others are to be said again.
    ///
    /// @return false if there were not so many
    synchronized boolean over(long arrived) {
        if (!said.arrived(arrived)) {
            return false;
        }
        ended = true;
        again = Math.min(again, said.first());
        return true;
    }

    /// Those that were lost, over the socket as far as that goes now.
    synchronized void sayAgain(SlabBorrower borrower) {
        while (again < said.next()) {
            ByteBuffer record = said.at(again);
            int from = record.position();
            if (!borrower.giveBack(record.getInt(from), record.getInt(from + 4), record.getLong(from + 8))) {
                return;
            }
            again++;
        }
    }

    @Override
    public synchronized String toString() {
        return said.toString();
    }
}
