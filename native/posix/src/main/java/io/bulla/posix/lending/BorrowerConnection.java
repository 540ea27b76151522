// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.Poll;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.StreamSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The lender's thread's end of one borrower: what it hears on the connection, and the string that hangs up once the
/// borrower has no mapping any more. Belongs to that thread alone; what others see too is in the [Loans].
///
/// ```
/// silent --greeting--> greeted
/// either --the connection ends--> resting, while its string is there --hang-up--> over
/// ```
final class BorrowerConnection {

    private final SlabPeer peer;
    private final Loans loans;
    private final StreamSocket socket;
    private final LenderCounts counts;
    private final Consumer<SlabPeer> whenGreeted;
    private final long since = System.nanoTime();
    private final MemorySegment heard = Arena.ofAuto().allocate(SlabRecord.TO_LENDER, 8);
    private long heardBytes;
    private boolean greeted;
    private @Nullable StreamSocket string;
    private boolean rests;

    /// @param socket the peer's, too; either end of it ends the connection
    /// @param whenGreeted told once something can be lent
    BorrowerConnection(SlabPeer peer, StreamSocket socket, LenderCounts counts, Consumer<SlabPeer> whenGreeted) {
        this.peer = peer;
        this.loans = peer.loans();
        this.socket = socket;
        this.counts = counts;
        this.whenGreeted = whenGreeted;
    }

    SlabPeer peer() {
        return peer;
    }

    int socketFd() {
        return socket.isOpen() ? socket.descriptor().fd() : Poll.NONE;
    }

    int stringFd() {
        StreamSocket held = string;
        return held == null ? Poll.NONE : held.descriptor().fd();
    }

    /// When it connected, by the clock of [System#nanoTime()].
    long since() {
        return since;
    }

    /// Whether the borrower has not said who it is, and may still do so.
    boolean isSilent() {
        return loans.isSilent();
    }

    /// Reads what the borrower says, one piece of it.
    ///
    /// @param scratch native; at least two records long
    void hear(MemorySegment scratch) {
        if (!socket.isOpen()) {
            // closed by another thread, whose shutdown woke this one
            return;
        }
        MemorySegment.copy(heard, 0, scratch, 0, heardBytes);
        long read;
        try (Rights rights = Rights.tryReceive(socket, scratch.asSlice(heardBytes))) {
            read = rights.bytes();
            if (rights.count() > 0) {
                cutOff("a descriptor: descriptors=" + rights.count());
                return;
            }
        } catch (PosixException ended) {
            if (!(ended instanceof PosixException.PeerClosed)) {
                counts.failed();
            }
            end(String.valueOf(ended.getMessage()));
            return;
        }
        if (read == 0) {
            end("it has closed its connection");
            return;
        }
        long all = heardBytes + Math.max(0, read);
        long at = 0;
        for (; all - at >= SlabRecord.TO_LENDER && socket.isOpen(); at += SlabRecord.TO_LENDER) {
            // read once into a record: what is checked is what is used
            try {
                onRecord(SlabRecord.returned(scratch, at));
            } catch (RuntimeException | Error failure) {
                // a release's or a listener's; what was given back is, and the next words are heard
                counts.failed();
            }
        }
        heardBytes = socket.isOpen() ? all - at : 0;
        MemorySegment.copy(scratch, at, heard, 0, heardBytes);
    }

    private void onRecord(SlabRecord said) {
        if (!greeted) {
            onGreeting(said);
            return;
        }
        if (said.slot() == SlabRecord.WORD && peer.hear(said.generation(), said.slab())) {
            return;
        }
        SealedBuffer ended = null;
        LentSlab unmapped = null;
        if (said.slot() == SlabRecord.UNMAP) {
            unmapped = loans.unmapped(said.slab());
        } else {
            ended = loans.returned(said);
        }
        if (unmapped != null) {
            unmapped.letGo();
        } else if (ended != null) {
            ended.close();
        } else {
            cutOff("no such lease: slot=" + said.slot() + " generation=" + said.generation() + " slab=" + said.slab());
        }
    }

    private void onGreeting(SlabRecord said) {
        if (said.slot() != SlabRecord.HELLO || said.generation() != SlabRecord.VERSION) {
            cutOff("no greeting: slot=" + said.slot() + " version=" + said.generation());
            return;
        }
        try {
            StreamSocket[] pair = StreamSocket.unixPair();
            // first: a failure below must not leave it behind
            string = pair[0];
            Descriptor given = pair[1].descriptor();
            try {
                greeted = loans.greet(said.slab(), given);
            } finally {
                // without the shutdown of a socket's close: the borrower's copy lives on
                given.close();
            }
            if (!greeted) {
                end("it does not take its greeting");
            }
        } catch (PosixException refused) {
            counts.failed();
            refuse(refused.number(), 0, Call.descriptorLimit(), String.valueOf(refused.getMessage()));
        }
        if (greeted) {
            whenGreeted.accept(peer);
        } else {
            closeString();
        }
    }

    /// Says why there is no greeting, if that goes at once, and ends the connection.
    ///
    /// @param errno the reason
    /// @param count of what the limit is for
    void refuse(int errno, long count, long limit, String why) {
        loans.tellRefused(errno, count, limit);
        end(why);
    }

    private void cutOff(String lie) {
        loans.cutOff(lie);
    }

    /// The connection is over. The mapping is not.
    void end(String why) {
        loans.end(why);
    }

    /// The connection may be over, while the string is not: what the borrower has rests then.
    void rest() {
        if (rests || socket.isOpen() || string == null) {
            return;
        }
        rests = true;
        int left = loans.leases();
        if (left > 0) {
            FlightEvents.quarantined(loans.toString(), left, loans.bytes(), String.valueOf(loans.gone()));
        }
    }

    /// The string hangs up: the borrower has no mapping any more.
    ///
    /// @return how many leases were closed
    int hungUp() {
        end("its process has ended, or let go of everything");
        FlightEvents.Ended event = FlightEvents.ending(loans.toString(), loans.bytes());
        int closed = 0;
        for (SealedBuffer each = loans.takeAny(); each != null; each = loans.takeAny()) {
            try {
                each.close();
            } catch (RuntimeException | Error another) {
                // a listener's; the others go on
                counts.failed();
            }
            closed++;
        }
        for (LentSlab each = loans.takeSlab(); each != null; each = loans.takeSlab()) {
            try {
                each.letGo();
            } catch (RuntimeException | Error another) {
                counts.failed();
            }
        }
        closeString();
        FlightEvents.closed(event, closed, String.valueOf(loans.gone()));
        return closed;
    }

    private void closeString() {
        StreamSocket held = string;
        if (held != null) {
            held.close();
            string = null;
        }
    }

    @Override
    public String toString() {
        return loans.toString();
    }
}
