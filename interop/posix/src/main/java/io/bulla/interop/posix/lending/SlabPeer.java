// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix.lending;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.posix.Errno;
import io.bulla.interop.posix.PosixException;
import io.bulla.interop.posix.internal.calls.Call;
import io.bulla.interop.posix.internal.calls.Descriptor;
import io.bulla.interop.posix.internal.memory.SealedFile;
import io.bulla.interop.posix.internal.stream.Patience;
import io.bulla.interop.posix.internal.stream.Rights;
import io.bulla.interop.posix.internal.stream.StreamSocket;
import io.bulla.interop.posix.internal.stream.WholeSend;
import io.bulla.iovec.IoVec;
import io.bulla.pool.Slab;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A process that borrows, as its lender sees it.
///
/// ```
/// greeted --its connection ends, or it is cut off--> gone --its string hangs up--> nothing is lent
/// ```
///
/// What it has is in a table of the lender's own. Whatever it says is held against that table: the first word
/// that is not true cuts it off, and touches nothing else. What it had then stays lent, for it may still be
/// mapped, until its string hangs up.
///
/// Thread-safe. No thread waits for the borrower, but one that sends bytes.
public final class SlabPeer implements AutoCloseable {

    /// Size of the record that [#lend(SealedBuffer, ByteBuffer)] makes, in bytes.
    public static final int RECORD_BYTES = (int) SlabRecord.TO_BORROWER;

    private final SlabLender lender;
    private final StreamSocket socket;
    private final int pid;
    private final long since = System.nanoTime();
    private final Object lock = new Object();
    // one sender of bytes at a time
    private final ReentrantLock bytesSenders = new ReentrantLock();

    // of the lender's thread alone
    private final MemorySegment heard = Arena.ofAuto().allocate(SlabRecord.TO_LENDER, 8);
    private long heardBytes;
    private @Nullable StreamSocket string;
    private boolean rests;

    // from here on under the lock
    private final LeaseTable leases;
    private final Map<Long, LentSlab> slabs = new HashMap<>();
    private final MemorySegment record = Arena.ofAuto().allocate(SlabRecord.TO_BORROWER, 8);
    private final ByteBuffer recordBytes = record.asByteBuffer();
    private long token;
    private boolean greeted;
    private boolean sendsBytes;
    private long files;
    private @Nullable String gone;
    private String name;

    SlabPeer(SlabLender lender, StreamSocket socket, int pid, SlabQuota quota) {
        this.lender = lender;
        this.socket = socket;
        this.pid = pid;
        this.leases = new LeaseTable(quota);
        this.name = "borrower pid=" + pid;
    }

    /// What the borrower called itself when it connected.
    ///
    /// @return any number
    public long token() {
        synchronized (lock) {
            return token;
        }
    }

    /// Its process, as the kernel says.
    ///
    /// @return 0 if it is in a name space that this process does not see
    public int pid() {
        return pid;
    }

    /// Says who the borrower is, where that is known better than by its process: in tags, events and messages.
    ///
    /// @param who a few words
    public void rename(String who) {
        Objects.requireNonNull(who, "who");
        synchronized (lock) {
            name = "borrower pid=" + pid + " token=" + token + " " + who;
        }
    }

    /// Lends a buffer: a record of 32 bytes goes out, whatever the buffer's size. The lease is a handle of
    /// the borrower's, tagged with its name, until it gives it back or its string hangs up. Does not wait.
    ///
    /// A buffer of one sealed file goes as that file, with a descriptor: one of a
    /// [MemfdSource][io.bulla.interop.posix.memfd.MemfdSource], or one that was received as a
    /// [SharedSeal][io.bulla.interop.posix.memfd.SharedSeal]. It is no lease and takes no quota: the kernel
    /// keeps the file until its last holder has closed it.
    ///
    /// @param buffer open; the handle stays the caller's
    /// @return false if it cannot be lent now: it is not one region of the lender's source or of a sealed file,
    ///     the quota is used up, the borrower does not read what it was sent, or is just told to unmap the slab.
    ///     Nothing has gone out then
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException if the system refuses; nothing has gone out
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    public boolean lend(SealedBuffer buffer) throws PosixException {
        return lendOrNot(buffer, null);
    }

    /// Lends a buffer as [#lend(SealedBuffer)], but leaves it to the caller to carry the record of it to the
    /// borrower, on a connection of its own: there [SlabBorrower#open] makes the buffer of it. A slab that the
    /// borrower does not know goes to it first, over the socket. A record that gets lost is a lease until the
    /// string hangs up.
    ///
    /// @param buffer open; the handle stays the caller's
    /// @param carried gets [#RECORD_BYTES] bytes, if the buffer is lent
    /// @return false if it cannot be lent now
    /// @throws BufferOverflowException if there is no room for the record; nothing is lent
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException if the system refuses; nothing has gone out
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    public boolean lend(SealedBuffer buffer, ByteBuffer carried) throws PosixException {
        if (carried.remaining() < RECORD_BYTES) {
            throw new BufferOverflowException();
        }
        return lendOrNot(buffer, carried);
    }

    private boolean lendOrNot(SealedBuffer buffer, @Nullable ByteBuffer carried) throws PosixException {
        IoVec bytes = buffer.iovec();
        if (bytes.regionCount() != 1) {
            return false;
        }
        Slab slab = Slab.of(bytes, 0);
        SlabFile file = slab == null ? null : lender.memory().file(slab);
        if (slab == null || file == null) {
            return handOver(buffer, bytes, carried);
        }
        long offset = bytes.lent().region(0).address() - slab.address();
        SealedBuffer lease = buffer.share(this);
        boolean lent = false;
        try {
            lent = lend(lease, slab, file, offset, carried);
            return lent;
        } finally {
            if (!lent) {
                lease.close();
            }
        }
    }

    /// Of a sealed file the borrower gets a descriptor of its own, so nothing is lent.
    private boolean handOver(SealedBuffer buffer, IoVec bytes, @Nullable ByteBuffer carried) throws PosixException {
        MemorySegment region = bytes.lent().region(0);
        SealedFile file = SealedFile.of(region);
        if (file == null) {
            return false;
        }
        // a handle of its own: the file stays open until it has left
        try (SealedBuffer held = buffer.share()) {
            synchronized (lock) {
                checkThere();
                if (sendsBytes) {
                    return false;
                }
                int kind = carried == null ? SlabRecord.SEALED : SlabRecord.FILE;
                SlabRecord.lend(record, ++files, kind, 0, file.offsetOf(region), held.byteSize());
                if (!tell(file.descriptor())) {
                    return false;
                }
                if (carried != null) {
                    carried.put(recordBytes.clear());
                }
                return true;
            }
        }
    }

    /// Lends a buffer or, where that cannot be, sends its bytes, waiting for the borrower as long as it
    /// takes: until it reads, is gone, or [#close()] is called, or the thread is interrupted.
    ///
    /// @param buffer open; the handle stays the caller's
    /// @return whether it was lent
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException with [Errno#EINTR] if the thread is interrupted while it waits, which it stays; the
    ///     borrower is cut off if a part had gone out
    /// @throws PosixException if the system refuses; the borrower is cut off if a part had gone out
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    public boolean send(SealedBuffer buffer) throws PosixException {
        return send(buffer, Patience.FOR_EVER);
    }

    /// Lends a buffer or, where that cannot be, sends its bytes, waiting for the borrower, and for other threads that
    /// send bytes to it.
    ///
    /// @param buffer open; the handle stays the caller's
    /// @param patience how long to wait in all
    /// @return whether it was lent
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException with [Errno#ETIMEDOUT] if the time is over, with [Errno#EINTR] if the thread is
    ///     interrupted while it waits, which it stays; or if the system refuses. The borrower is cut off if a
    ///     part had gone out; else it is as before
    /// @throws io.bulla.buffer.ReleasedBufferException if the handle is closed
    public boolean send(SealedBuffer buffer, Duration patience) throws PosixException {
        if (lend(buffer)) {
            return true;
        }
        Patience left = new Patience(patience, this);
        left.lock(bytesSenders);
        try {
            sendBytes(buffer, left);
        } finally {
            bytesSenders.unlock();
        }
        return false;
    }

    /// Ends the connection: nothing more goes out, and a thread that sends bytes wakes. What it has stays lent until
    /// it gives its string back, or its process ends. Again is harmless.
    @Override
    public void close() {
        end("this side has closed it");
    }

    /// Whether a thread sends bytes, or is about to.
    boolean isSending() {
        return bytesSenders.isLocked();
    }

    /// Leases that the borrower has.
    ///
    /// @return at least 0
    public int leases() {
        synchronized (lock) {
            return leases.size();
        }
    }

    /// Bytes of these leases.
    ///
    /// @return at least 0
    public long bytes() {
        synchronized (lock) {
            return leases.bytes();
        }
    }

    /// Why nothing can be lent to it any more.
    ///
    /// @return `null` while something can
    public @Nullable String gone() {
        synchronized (lock) {
            return gone;
        }
    }

    @Override
    public String toString() {
        // plain: a string is whole, the one before or the one after
        return name;
    }

    private boolean lend(SealedBuffer lease, Slab slab, SlabFile file, long offset, @Nullable ByteBuffer carried)
            throws PosixException {
        long length = lease.byteSize();
        synchronized (lock) {
            checkThere();
            if (sendsBytes) {
                return false;
            }
            if (!leases.hasRoom(length)) {
                FlightEvents.refused(name, length, leases.size(), leases.bytes());
                lender.takeBack();
                return false;
            }
            LentSlab on = lent(slab, file);
            if (on == null || on.toldToUnmap) {
                return false;
            }
            int slot = leases.prepare();
            SlabRecord.lend(record, slab.id(), slot, leases.generation(slot), offset, length);
            FlightEvents.Lent event = FlightEvents.lending(name, slab.id(), length);
            if (carried == null && !tell(null)) {
                return false;
            }
            // below nothing can fail
            if (carried != null) {
                carried.put(recordBytes.clear());
            }
            leases.put(slot, lease, on, length, event);
            return true;
        }
    }

    /// The slab as the borrower knows it; it is told if it does not.
    private @Nullable LentSlab lent(Slab slab, SlabFile file) throws PosixException {
        LentSlab known = slabs.get(slab.id());
        if (known != null) {
            return known;
        }
        LentSlab fresh = new LentSlab(this, this::wanted, slab);
        boolean told = false;
        boolean held = false;
        slabs.put(slab.id(), fresh);
        try {
            held = fresh.hold();
            SlabRecord.lend(record, slab.id(), SlabRecord.SLAB, 0, 0, slab.byteSize());
            told = held && tell(file.descriptor());
            return told ? fresh : null;
        } finally {
            if (!told) {
                slabs.remove(slab.id());
                if (held) {
                    fresh.letGo();
                }
            }
        }
    }

    /// Sends the record, if it goes at once.
    private boolean tell(@Nullable Descriptor with) throws PosixException {
        try {
            return Rights.trySend(socket, record, with);
        } catch (PosixException.PeerClosed closed) {
            gone = String.valueOf(closed.getMessage());
            throw closed;
        }
    }

    private void sendBytes(SealedBuffer buffer, Patience left) throws PosixException {
        IoVec bytes = buffer.iovec();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(SlabRecord.TO_BORROWER, 8);
            SlabRecord.lend(header, 0, SlabRecord.BYTES, 0, 0, bytes.byteSize());
            synchronized (lock) {
                checkThere();
                sendsBytes = true;
            }
            boolean whole = false;
            try {
                // a handle of the send's own
                SealedBuffer held = buffer.share(this);
                try (held) {
                    tellWaiting(header, left);
                    sendAfter(held, left);
                }
                whole = true;
            } finally {
                synchronized (lock) {
                    sendsBytes = false;
                    gone = whole || socket.isOpen() || gone != null ? gone : "a message went out in part";
                }
            }
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }

    /// Whole or not at all: until it has gone out nothing is lost.
    private void tellWaiting(MemorySegment header, Patience left) throws PosixException {
        while (!Rights.trySend(socket, header, null)) {
            int fd = socket.descriptor().enter("poll");
            try {
                left.awaitWritable(socket.descriptor(), fd);
            } finally {
                socket.descriptor().leave();
            }
        }
    }

    /// After the header has gone out: a stream that lacks the bytes is broken.
    private void sendAfter(SealedBuffer held, Patience left) throws PosixException {
        IoVec bytes = held.iovec();
        try {
            WholeSend.send(socket, bytes.lent(), left);
        } catch (Throwable failure) {
            socket.breakStream(failure);
            throw failure;
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }

    private void checkThere() throws PosixException {
        if (gone != null || !greeted) {
            throw new PosixException.PeerClosed("sendmsg", Errno.EPIPE.number(), name + " gone=[" + gone + "]");
        }
    }

    /// The pool wants a slab back of which nothing is lent. Asked again if it is not told now.
    void wanted(LentSlab on) {
        synchronized (lock) {
            if (gone != null || sendsBytes || on.leases > 0 || on.toldToUnmap || slabs.get(on.id()) != on) {
                return;
            }
            SlabRecord.lend(record, on.id(), SlabRecord.UNMAP, 0, 0, 0);
            try {
                on.toldToUnmap = tell(null);
            } catch (PosixException notNow) {
                // its string says when
            }
        }
    }

    // From here on called by the lender's thread alone

    int socketFd() {
        return socket.isOpen() ? socket.descriptor().fd() : -1;
    }

    int stringFd() {
        StreamSocket held = string;
        return held == null ? -1 : held.descriptor().fd();
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
                lender.countFailure();
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
                hear(SlabRecord.returned(scratch, at));
            } catch (RuntimeException | Error failure) {
                // a release's or a listener's; what was given back is, and the next words are heard
                lender.countFailure();
            }
        }
        heardBytes = socket.isOpen() ? all - at : 0;
        MemorySegment.copy(scratch, at, heard, 0, heardBytes);
    }

    private void hear(SlabRecord said) {
        if (!greeted) {
            greet(said);
            return;
        }
        SealedBuffer ended = null;
        LentSlab unmapped = null;
        synchronized (lock) {
            if (said.slot() == SlabRecord.UNMAP) {
                unmapped = unmapped(said.slab());
            } else {
                ended = leases.take(said.slot(), said.generation(), said.slab());
            }
        }
        if (unmapped != null) {
            unmapped.letGo();
        } else if (ended != null) {
            ended.close();
        } else {
            cutOff("no such lease: slot=" + said.slot() + " generation=" + said.generation() + " slab=" + said.slab());
        }
    }

    private @Nullable LentSlab unmapped(long slab) {
        LentSlab on = slabs.get(slab);
        if (on == null || !on.toldToUnmap || on.leases > 0) {
            return null;
        }
        slabs.remove(slab);
        return on;
    }

    /// When it connected, by the clock of [System#nanoTime()].
    long since() {
        return since;
    }

    /// Whether it has not said who it is, and may still do so.
    boolean isSilent() {
        synchronized (lock) {
            return !greeted && gone == null;
        }
    }

    /// Says why there is no greeting, if that goes at once, and ends the connection.
    ///
    /// @param errno the reason
    /// @param count of what the limit is for
    void refuse(int errno, long count, long limit, String why) {
        synchronized (lock) {
            SlabRecord.lend(record, SlabRecord.MAGIC, SlabRecord.REFUSED, errno, count, limit);
            try {
                Rights.trySend(socket, record, null);
            } catch (PosixException alreadyGone) {
                // it does not want to know
            }
        }
        end(why);
    }

    private void greet(SlabRecord said) {
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
                synchronized (lock) {
                    token = said.slab();
                    name = "borrower pid=" + pid + " token=" + token;
                    SlabRecord.lend(record, SlabRecord.MAGIC, SlabRecord.HELLO, SlabRecord.VERSION, 0, 0);
                    greeted = tell(given);
                }
            } finally {
                // without the shutdown of a socket's close: the borrower's copy lives on
                given.close();
            }
            if (!greeted) {
                end("it does not take its greeting");
            }
        } catch (PosixException refused) {
            lender.countFailure();
            refuse(refused.number(), 0, Call.descriptorLimit(), String.valueOf(refused.getMessage()));
        }
        if (greeted) {
            lender.greeted(this);
        } else {
            closeString();
        }
    }

    /// It said what is not true. What it has stays its until its string hangs up.
    private void cutOff(String lie) {
        String why = "cut off, it said what is not true: " + lie;
        synchronized (lock) {
            gone = why;
        }
        lender.countCutOff();
        end(why);
    }

    /// The connection is over. The mapping is not.
    void end(String why) {
        synchronized (lock) {
            gone = gone == null ? why : gone;
        }
        socket.close();
    }

    /// Its connection may be over, while its string is not: what it has rests then.
    void rest() {
        if (rests || socket.isOpen() || string == null) {
            return;
        }
        rests = true;
        int left = leases();
        if (left > 0) {
            FlightEvents.quarantined(name, left, bytes(), String.valueOf(gone()));
        }
    }

    /// Its string hangs up: it has no mapping any more.
    ///
    /// @return how many leases were closed
    int hungUp() {
        end("its process has ended, or let go of everything");
        FlightEvents.Ended event = FlightEvents.ending(name, bytes());
        int closed = 0;
        for (SealedBuffer each = takeAny(); each != null; each = takeAny()) {
            try {
                each.close();
            } catch (RuntimeException | Error another) {
                // a listener's; the others go on
                lender.countFailure();
            }
            closed++;
        }
        for (LentSlab each = takeSlab(); each != null; each = takeSlab()) {
            try {
                each.letGo();
            } catch (RuntimeException | Error another) {
                lender.countFailure();
            }
        }
        closeString();
        FlightEvents.closed(event, closed, String.valueOf(gone()));
        return closed;
    }

    private @Nullable SealedBuffer takeAny() {
        synchronized (lock) {
            return leases.takeAny();
        }
    }

    private @Nullable LentSlab takeSlab() {
        synchronized (lock) {
            var each = slabs.values().iterator();
            if (!each.hasNext()) {
                return null;
            }
            LentSlab one = each.next();
            each.remove();
            return one;
        }
    }

    private void closeString() {
        StreamSocket held = string;
        if (held != null) {
            held.close();
            string = null;
        }
    }
}
