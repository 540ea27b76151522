// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pool.Slab;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.memory.SealedFile;
import io.bulla.posix.internal.memory.SlabFile;
import io.bulla.posix.internal.stream.Patience;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.StreamSocket;
import io.bulla.posix.internal.stream.WholeSend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Duration;
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
/// Thread-safe. What the borrower says is heard by the lender's thread. No thread waits for the borrower, but one
/// that sends bytes.
public final class SlabPeer implements AutoCloseable {

    /// Size of the record that [#lend(SealedBuffer, ByteBuffer)] makes, in bytes.
    public static final int RECORD_BYTES = (int) SlabRecord.TO_BORROWER;

    /// Hears what the layer above a borrower says to the layer above its lender: [#onWords(Words)].
    @FunctionalInterface
    public interface Words {

        /// A word of the borrower's, by the lender's thread: it serves all borrowers, so this does not wait, and
        /// calls nothing that does. What it throws is counted, and the word is lost.
        ///
        /// @param what it is about
        /// @param value of it
        void onWord(int what, long value);
    }

    private final SharedSlabSource memory;
    private final LenderCounts counts;
    private final StreamSocket socket;
    private final int pid;
    private final Loans loans;
    // one sender of bytes at a time
    private final ReentrantLock bytesSenders = new ReentrantLock();
    // volatile: another thread's than the lender's sets it
    private volatile @Nullable Words words;

    /// @param takeBack takes back at once what borrowers have given back; does not wait
    SlabPeer(
            SharedSlabSource memory,
            LenderCounts counts,
            Runnable takeBack,
            StreamSocket socket,
            int pid,
            SlabQuota quota) {
        this.memory = memory;
        this.counts = counts;
        this.socket = socket;
        this.pid = pid;
        this.loans = new Loans(this, pid, socket, quota, counts, takeBack);
    }

    /// The number that the borrower gave itself when it connected.
    ///
    /// @return any number
    public long token() {
        return loans.token();
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
        loans.rename(Objects.requireNonNull(who, "who"));
    }

    /// Lends a buffer: a record of 32 bytes goes out, whatever the buffer's size. The lease is a handle of
    /// the borrower's, tagged with its name, until it gives it back or its string hangs up. Does not wait.
    ///
    /// A buffer of one sealed file goes as that file, with a descriptor: one of a
    /// [MemfdSource][io.bulla.posix.memfd.MemfdSource], or one that was received as a
    /// [SealedFileHandoff][io.bulla.posix.memfd.SealedFileHandoff]. It is no lease and takes no quota: the
    /// kernel keeps the file until its last holder has closed it.
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
        SlabFile file = slab == null ? null : memory.file(slab);
        if (slab == null || file == null) {
            return handOver(buffer, bytes, carried);
        }
        long offset = bytes.lent().region(0).address() - slab.address();
        SealedBuffer lease = buffer.share(this);
        boolean lent = false;
        try {
            lent = loans.lend(lease, slab, file, offset, carried);
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
            return loans.handOver(file, file.offsetOf(region), held.byteSize(), carried);
        }
    }

    /// Lends a buffer or, where that cannot be, sends its bytes, waiting for the borrower as long as it
    /// takes: until it reads, is gone, or [#close()] is called, or the thread is interrupted.
    ///
    /// @param buffer open; the handle stays the caller's
    /// @return whether it was lent
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException with `Errno.EINTR` if the thread is interrupted while it waits, which it stays; the
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
    /// @throws PosixException with `Errno.ETIMEDOUT` if the time is over, with `Errno.EINTR` if the thread is
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

    /// Takes a lease back that the borrower has given back on another connection. As on the socket, what is not true
    /// cuts it off. Of a borrower that is gone nothing is taken back: it rests until its string hangs up.
    ///
    /// @param slot of the record that lent it, its bytes 8 to 11, big-endian
    /// @param generation of that record, its bytes 12 to 15
    /// @param slab of that record, its bytes 0 to 7
    /// @return false if the borrower is gone, because of this or before
    public boolean giveBack(int slot, int generation, long slab) {
        SealedBuffer ended = loans.returnedElsewhere(slot, generation, slab);
        if (ended == null) {
            return false;
        }
        try {
            ended.close();
        } catch (RuntimeException | Error failure) {
            // a release's or a listener's, as on the lender's thread: the lease has ended
            counts.failed();
        }
        return true;
    }

    /// Sends a word to the layer above the borrower, over the socket: [SlabBorrower.Link#onWord]. It comes behind the
    /// slabs and messages that went before it. Does not wait.
    ///
    /// @param what it is about
    /// @param first number of it
    /// @param second number of it
    /// @param record [#RECORD_BYTES] bytes that go with it; its position stays
    /// @return false if the borrower does not read what it was sent; nothing has gone out then
    /// @throws BufferUnderflowException if there are fewer bytes
    /// @throws PosixException.PeerClosed if the borrower is gone
    /// @throws PosixException if the system refuses; nothing has gone out
    public boolean tell(int what, long first, long second, ByteBuffer record) throws PosixException {
        if (record.remaining() < RECORD_BYTES) {
            throw new BufferUnderflowException();
        }
        return loans.say(what, first, second, record);
    }

    /// Hears the words of the layer above the borrower: [SlabBorrower#tell]. A borrower that says one while none is
    /// heard is cut off.
    ///
    /// @param heard by it, from now on
    public void onWords(Words heard) {
        // volatile: with what it is made of
        words = Objects.requireNonNull(heard, "heard");
    }

    /// Ends the connection of a borrower that said on another one what is not true. What it has rests until its
    /// string hangs up. One that is gone is gone for its first reason.
    ///
    /// @param lie a few words, for [#gone()]
    public void cutOff(String lie) {
        loans.cutOffUnlessGone(Objects.requireNonNull(lie, "lie"));
    }

    /// Ends the connection: nothing more goes out, and a thread that sends bytes wakes. What it has stays lent until
    /// it gives its string back, or its process ends. Again is harmless.
    @Override
    public void close() {
        loans.end("this side has closed it");
    }

    /// Whether a thread sends bytes, or is about to.
    boolean isSending() {
        return bytesSenders.isLocked();
    }

    /// Leases that the borrower has.
    ///
    /// @return at least 0
    public int leases() {
        return loans.leases();
    }

    /// Bytes of these leases.
    ///
    /// @return at least 0
    public long bytes() {
        return loans.bytes();
    }

    /// Why nothing can be lent to it any more.
    ///
    /// @return `null` while something can
    public @Nullable String gone() {
        return loans.gone();
    }

    @Override
    public String toString() {
        return loans.toString();
    }

    private void sendBytes(SealedBuffer buffer, Patience left) throws PosixException {
        IoVec bytes = buffer.iovec();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(SlabRecord.TO_BORROWER, 8);
            SlabRecord.lend(header, 0, SlabRecord.BYTES, 0, 0, bytes.byteSize());
            loans.beginBytes();
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
                loans.endBytes(whole);
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

    /// A word of the borrower's.
    ///
    /// @return false if none is heard
    boolean hear(int what, long value) {
        // volatile: as above
        Words heard = words;
        if (heard == null) {
            return false;
        }
        heard.onWord(what, value);
        return true;
    }

    /// What the lender's thread looks at and ends.
    Loans loans() {
        return loans;
    }
}
