// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.lending.SlabBorrower;
import io.bulla.posix.lending.SlabPeer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Borrows buffers that an [AeronLender] of another process lends over Aeron IPC.
///
/// ```java
/// AeronBorrower borrower = AeronBorrower.over(
///         SlabBorrower.connect(path, token, copies, limit),
///         aeron.addSubscription("aeron:ipc", 10), aeron.addExclusivePublication("aeron:ipc", 11));
/// SealedBuffer message = borrower.poll();
/// idle.idle(message == null ? 0 : 1);
/// ```
///
/// What is received is what [SlabBorrower#receive] gives: read-only memory of the lender's, good until its last
/// handle is closed, also if the lender has ended or Aeron has. The last close gives the lease back on `returns`, or
/// over the socket where Aeron does not take it.
///
/// Messages come in the order in which they were lent, whether Aeron or the socket brought them. What Aeron has lost,
/// with its driver or an image, comes once more over the socket, which carries everything from then on.
///
/// No thread waits here: [#poll] looks at Aeron each time, and at the socket if Aeron has nothing, at most once in 20
/// microseconds, or after 256 messages. So the socket's news wait for no longer than the idle strategy does.
///
/// One thread at a time polls; any thread closes buffers. The subscription and the publication stay the caller's, for
/// this alone; the [SlabBorrower] is closed with this, and nothing else receives from it.
public final class AeronBorrower implements AutoCloseable {

    private static final long LOOK_EACH_NANOS = 20_000;
    private static final int LOOK_EACH = 256;
    private static final long NONE = -1;

    private final SlabBorrower borrower;
    private final Subscription places;
    private final LeaseReturns returns;
    private final FragmentHandler onPlace = this::onPlace;
    private final SlabBorrower.Link link = new Linked();
    private final Object lock = new Object();

    // from here on under the lock
    private boolean inside;
    private boolean closed;
    // the number of the next message
    private long next;
    // one that Aeron has brought, and one of the socket: each is the next, or before it others come the other way
    private final ByteBuffer place = ByteBuffer.allocate(Way.PLACE_BYTES).order(ByteOrder.BIG_ENDIAN);
    private long placed = NONE;
    private final ByteBuffer onSocket = ByteBuffer.allocate(SlabPeer.RECORD_BYTES);
    private long numberOnSocket = NONE;
    private boolean sessionKnown;
    private int session;
    private @Nullable Image image;
    private boolean readsTold;
    private boolean over;
    private boolean overTold;
    private long nextTold;
    private long looked = System.nanoTime();
    private int sinceLook;
    private @Nullable EOFException ended;
    private @Nullable SealRefusedException lie;

    private AeronBorrower(SlabBorrower borrower, Subscription places, ExclusivePublication returns) {
        this.borrower = Objects.requireNonNull(borrower, "borrower");
        this.places = Objects.requireNonNull(places, "places");
        this.returns = new LeaseReturns(Objects.requireNonNull(returns, "returns"));
    }

    /// Borrows by Aeron.
    ///
    /// @param borrower that has connected, and has received nothing yet; closed with this
    /// @param places the subscription on which places come
    /// @param returns a publication for what this gives back alone, of IPC
    /// @return to be closed
    /// @throws IllegalStateException if the borrower is linked to another one
    public static AeronBorrower over(SlabBorrower borrower, Subscription places, ExclusivePublication returns) {
        AeronBorrower made = new AeronBorrower(borrower, places, returns);
        borrower.link(made.link);
        return made;
    }

    /// The next message, if it is there. Does not wait.
    ///
    /// @return to be closed, which gives its lease back; `null` if there is none now
    /// @throws EOFException at the end, after the last message that was lent: the lender was closed or has died, or
    ///     this is closed
    /// @throws SealRefusedException if what came is not what a lender says, or too long; the connection is over,
    ///     and what was received before stays good
    /// @throws IOException if the system refuses. What could not be mapped is given back
    /// @throws IllegalStateException if it is called from within itself
    public @Nullable SealedBuffer poll() throws IOException {
        synchronized (lock) {
            if (inside) {
                throw new IllegalStateException("called from within: " + borrower);
            }
            inside = true;
            try {
                if (closed) {
                    throw new EOFException("borrower was closed");
                }
                return step();
            } catch (SealRefusedException lied) {
                close();
                throw lied;
            } finally {
                inside = false;
            }
        }
    }

    /// Whether Aeron brings places and takes returns, if there is no back pressure.
    ///
    /// @return false before its images are there, and after Aeron was lost
    public boolean isOverAeron() {
        synchronized (lock) {
            return readsTold && !over && !closed;
        }
    }

    /// Ends the borrowing, as [SlabBorrower#close()]: nothing more comes. Buffers that are open stay good, and go
    /// back over the socket. Again is harmless.
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            placed = NONE;
            numberOnSocket = NONE;
        }
        returns.end();
        borrower.close();
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "AeronBorrower[" + borrower + " places: next=" + next + " returns: " + returns
                    + (over ? " over" : "") + "]";
        }
    }

    private @Nullable SealedBuffer step() throws IOException {
        if (sinceLook >= LOOK_EACH) {
            look();
        }
        boolean nothing = false;
        while (true) {
            readPlace();
            if (placed == next) {
                SealedBuffer message = openPlace();
                if (message != null) {
                    return message;
                }
            } else if (numberOnSocket == next) {
                return openOnSocket();
            } else if (numberOnSocket != NONE) {
                // Aeron had what is before it sooner than the socket had this, and has it not
                lost();
            } else if (ended != null) {
                throw ended;
            } else if (placed == NONE && (nothing || !isToLook())) {
                return null;
            } else if (!look()) {
                nothing = true;
                if (placed != NONE && ended == null) {
                    // the other way round
                    lost();
                }
            }
        }
    }

    private boolean isToLook() {
        return over != overTold || System.nanoTime() - looked >= LOOK_EACH_NANOS;
    }

    private void readPlace() throws SealRefusedException {
        Image from = image;
        while (placed == NONE && !over && from != null) {
            long before = from.position();
            int read = from.poll(onPlace, 1);
            if (lie != null) {
                throw lie;
            }
            // at the end of a term it reads nothing but the padding
            if (read == 0 && (from.isClosed() || from.position() == before)) {
                if (from.isClosed() && ended == null) {
                    lost();
                }
                return;
            }
        }
    }

    /// One place. Each word is read once: what is checked is what is used.
    private void onPlace(DirectBuffer log, int offset, int length, Header header) {
        if (length != Way.PLACE_BYTES) {
            lie = refused("a place of another length: length=" + length);
            return;
        }
        log.getBytes(offset, place.clear(), Way.PLACE_BYTES);
        long number = place.getLong(Way.NUMBER_AT);
        if (number < next) {
            lie = refused("a place twice: number=" + number);
        } else if (!returns.arrived(place.getLong(Way.ARRIVED_AT))) {
            lie = refused("more returns than there were: " + returns);
        } else {
            placed = number;
        }
    }

    /// @return `null` if Aeron was over before its slab came: then it comes again
    private @Nullable SealedBuffer openPlace() throws IOException {
        ByteBuffer record = place.position(Way.RECORD_AT).limit(Way.PLACE_BYTES);
        SealedBuffer message = openNow(record);
        while (message == null && ended == null && look() && placed != NONE) {
            // its slab was on the socket before it was here
            message = openNow(record);
        }
        if (message != null) {
            returns.begin();
        } else if (ended != null) {
            throw ended;
        } else if (placed != NONE) {
            throw refused("no such slab, or file");
        }
        return message;
    }

    private SealedBuffer openOnSocket() throws IOException {
        SealedBuffer message = openNow(onSocket.clear());
        if (message == null) {
            throw refused("no such slab, or file");
        }
        return message;
    }

    /// @return `null` if its slab has not come; else its message has had its turn, also if this fails
    private @Nullable SealedBuffer openNow(ByteBuffer record) throws IOException {
        boolean there = true;
        try {
            SealedBuffer message = borrower.openNow(record);
            there = message != null;
            return message;
        } finally {
            if (there) {
                // the other one may be there, too: it comes later
                placed = placed == next ? NONE : placed;
                numberOnSocket = numberOnSocket == next ? NONE : numberOnSocket;
                next++;
                sinceLook++;
                returns.arrivedHere(next);
            }
        }
    }

    /// Says what the lender is to know, and takes in one thing of the socket.
    ///
    /// @return false if there was none
    private boolean look() throws IOException {
        looked = System.nanoTime();
        sinceLook = 0;
        say();
        if (ended != null || numberOnSocket != NONE) {
            return false;
        }
        try {
            return borrower.listenOnce();
        } catch (EOFException end) {
            ended = end;
        } catch (PosixException.PeerClosed closedByPeer) {
            ended = new EOFException("connection ended");
            ended.initCause(closedByPeer);
        }
        return false;
    }

    private void say() {
        if (returns.isLost()) {
            lost();
        }
        if (sessionKnown && !readsTold && !over) {
            image = places.imageBySessionId(session);
            readsTold = image != null && returns.isConnected() && borrower.tell(Way.SESSION, returns.session());
        }
        if (over && !overTold) {
            overTold = borrower.tell(Way.OVER, next);
        }
        if (next - Math.max(nextTold, returns.told()) >= Way.TOLD_EACH && borrower.tell(Way.ARRIVED, next)) {
            nextTold = next;
        }
        returns.sayAgain(borrower);
    }

    /// Aeron is over. What has not come comes over the socket, after what is there.
    private void lost() {
        over = true;
        placed = NONE;
        numberOnSocket = numberOnSocket == next ? next : NONE;
        returns.end();
    }

    private SealRefusedException refused(String what) {
        return new SealRefusedException("not what a lender says: " + what + ": next=" + next);
    }

    /// What the socket's side of the borrower is told to do.
    private final class Linked implements SlabBorrower.Link {

        @Override
        public boolean giveBack(int slot, int generation, long slab) {
            return returns.giveBack(slot, generation, slab);
        }

        @Override
        public void onWord(int what, long first, long second, ByteBuffer record) throws IOException {
            synchronized (lock) {
                switch (what) {
                    case Way.SESSION -> {
                        session = (int) first;
                        sessionKnown = true;
                    }
                    case Way.OVER -> {
                        check(returns.over(first), first);
                        lost();
                    }
                    case Way.ARRIVED -> check(returns.arrived(first), first);
                    case Way.PLACE -> {
                        check(returns.arrived(second), second);
                        onPlace(first, record);
                    }
                    default -> throw refused("a word of no meaning: what=" + what);
                }
            }
        }

        /// After a loss some come twice, and some too early, which come again.
        private void onPlace(long number, ByteBuffer record) throws SealRefusedException {
            if (number < next && !over) {
                throw refused("a place twice: number=" + number);
            }
            if (number == next || !over) {
                onSocket.clear().put(record);
                numberOnSocket = number;
            }
        }

        private void check(boolean holds, long said) throws SealRefusedException {
            if (!holds) {
                throw refused("returns that there were not: arrived=" + said + " " + returns);
            }
        }
    }
}
