// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.PosixException;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.NativeAccess;
import io.bulla.posix.internal.memory.ReceivedFile;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.StreamSocket;
import io.bulla.posix.internal.stream.WholeReceive;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Borrows buffers from a [SlabLender] of another process of this host.
///
/// ```java
/// try (SlabBorrower borrower = SlabBorrower.connect(path, 7, memory, 64 << 20);
///         SealedBuffer message = borrower.receive()) {
///     BufferReader.of(message).getInt();
/// }
/// ```
///
/// What is received is an ordinary [SealedBuffer]: read-only memory of the lender's, mapped here once for
/// each slab, and good until its last handle is closed, also if this is closed before, the lender closes, or
/// its process is killed. The last close gives the lease back with 16 bytes on the socket; it does not wait.
///
/// **The lender promises that the bytes do not change; the kernel does not.** A receiver that does not trust
/// the lender copies before it checks: [SealedBuffer#copy]. Through Bulla's own types a read after the last
/// close is an exception, as for a pool's memory: the stamp ends first. A raw view that was given out
/// ([io.bulla.iovec.IoVec#region] and what is made of it) costs more here: its lease goes back only after the
/// slab was unmapped, so that the view throws, and the slab is mapped again for what comes next. Reads and
/// sends that end use [io.bulla.iovec.IoVec#lent()].
///
/// One thread at a time receives; any thread may close.
///
/// What the lender has in a sealed file comes as that file. The kernel promises its bytes, and the close of
/// its buffer gives nothing back.
public final class SlabBorrower implements AutoCloseable {

    /// Another connection to the same lender: it carries records here, which [#openNow] opens, and gives leases back.
    public interface Link {

        /// Gives a lease back there, which the lender hears by [SlabPeer#giveBack]. By any thread that closes a
        /// buffer; it does not wait. If it throws, nothing was given back.
        ///
        /// @param slot of the lease
        /// @param generation of the lease
        /// @param slab of the lease
        /// @return false if it cannot be now: it goes over the socket
        boolean giveBack(int slot, int generation, long slab);

        /// A word of the layer above the lender, by the thread that listens: [SlabPeer#tell].
        ///
        /// @param what it is about
        /// @param first number of it
        /// @param second number of it
        /// @param record [SlabPeer#RECORD_BYTES] bytes, good for the length of the call
        /// @throws IOException if it is not what that layer says; the connection is over then
        void onWord(int what, long first, long second, ByteBuffer record) throws IOException;
    }

    private final StreamSocket socket;
    private final Path path;
    private final MemorySource copies;
    private final long limit;
    private final BorrowedSlabs slabs;
    private final ReentrantLock receiving = new ReentrantLock();
    // under the lock of receiving
    private final MemorySegment record = Arena.ofAuto().allocate(SlabRecord.TO_BORROWER, 8);
    private final MemorySegment withWord = Arena.ofAuto().allocate(SlabRecord.TO_BORROWER, 8);
    // volatile: another thread may listen
    private volatile @Nullable Link link;

    private SlabBorrower(StreamSocket socket, Lifeline lifeline, Path path, MemorySource copies, long limit) {
        this.socket = socket;
        this.slabs = new BorrowedSlabs(lifeline);
        this.path = path;
        this.copies = copies;
        this.limit = limit;
    }

    /// Connects to a lender.
    ///
    /// @param lender its socket
    /// @param token what this one calls itself, for the lender to know who it is
    /// @param copies where the memory for what comes as bytes is taken from; it outlives the borrower
    /// @param limit the most bytes of a message to accept
    /// @return to be closed
    /// @throws SealRefusedException if it is no lender
    /// @throws EOFException if the lender refuses, because this process is another user's, or it was closed
    /// @throws PosixException if the lender says why it refuses: with `Errno.EMFILE` it has no descriptors
    ///     left, with `Errno.EBUSY` too many others say nothing, with `Errno.ETIMEDOUT` this took too long
    /// @throws IOException if there is no lender, or the system refuses; nothing stays open
    /// @throws UnsupportedOperationException if native access is not enabled
    public static SlabBorrower connect(Path lender, long token, MemorySource copies, long limit) throws IOException {
        NativeAccess.linker();
        Objects.requireNonNull(copies, "copies");
        StreamSocket socket = StreamSocket.connect(lender);
        try {
            return new SlabBorrower(socket, BorrowerGreeting.say(lender, socket, token), lender, copies, limit);
        } catch (Throwable failure) {
            socket.close();
            throw failure;
        }
    }

    /// Waits for the next message.
    ///
    /// @return to be closed; if it was lent, that gives the lease back
    /// @throws EOFException at the end: the lender was closed or has died, or this is closed
    /// @throws SealRefusedException if what came is not what a lender says, or too long; the connection is
    ///     over then, and what was received before stays good
    /// @throws io.bulla.buffer.MemoryLimitException if there is no memory for bytes; the connection is over
    ///     then
    /// @throws IOException if the system refuses. What could not be mapped is given back; else the connection
    ///     is over
    /// @throws IllegalStateException if the source of the copies calls this while a message is received
    public SealedBuffer receive() throws IOException {
        if (receiving.isHeldByCurrentThread()) {
            throw new IllegalStateException("borrower receives already: " + this);
        }
        receiving.lock();
        try {
            while (true) {
                SealedBuffer message = receiveOne();
                if (message != null) {
                    return message;
                }
            }
        } catch (EOFException ended) {
            if (!slabs.isClosed()) {
                LenderFolder.removeIfOrphan(path);
            }
            throw ended;
        } catch (PosixException failure) {
            // a close may come before the call, and end the descriptor
            throw slabs.isClosed() ? closedMeanwhile(failure) : failure;
        } finally {
            receiving.unlock();
        }
    }

    /// Makes the buffer of a record that [SlabPeer#lend(SealedBuffer, ByteBuffer)] has made, and that another
    /// connection has carried here. Does not wait. Each record is opened once, also if the message is not
    /// wanted: the close of the buffer gives its lease back.
    ///
    /// @param carried [SlabPeer#RECORD_BYTES] bytes; its position stays
    /// @return to be closed
    /// @throws BufferUnderflowException if there are fewer bytes
    /// @throws SealRefusedException if it is not what the lender has lent, or too long
    /// @throws EOFException if the lender was closed or has died before it said which slab it is, or this is
    ///     closed
    /// @throws IOException if the system refuses; the lease is given back then
    public SealedBuffer open(ByteBuffer carried) throws IOException {
        if (carried.remaining() < SlabPeer.RECORD_BYTES) {
            throw new BufferUnderflowException();
        }
        SealedBuffer opened = openNow(carried);
        if (opened == null) {
            // its slab, or its file, was sent before the record was: it is there
            listen();
            opened = openNow(carried);
        }
        if (opened == null) {
            SlabRecord said = SlabRecord.carried(carried);
            throw said.refused(said.slot() == SlabRecord.FILE ? "no such file" : "no such slab");
        }
        return opened;
    }

    /// Makes the buffer of a record as [#open], if its slab has been heard of: [#listenOnce] hears of the next.
    ///
    /// @param carried [SlabPeer#RECORD_BYTES] bytes; its position stays
    /// @return to be closed; `null` if its slab, or its file, has not come
    /// @throws BufferUnderflowException if there are fewer bytes
    /// @throws SealRefusedException if it is not what the lender has lent, or too long
    /// @throws EOFException if this is closed
    /// @throws IOException if the system refuses; the lease is given back then
    public @Nullable SealedBuffer openNow(ByteBuffer carried) throws IOException {
        if (carried.remaining() < SlabPeer.RECORD_BYTES) {
            throw new BufferUnderflowException();
        }
        SlabRecord said = SlabRecord.carried(carried);
        if (said.slot() == SlabRecord.FILE) {
            Descriptor file = slabs.kept(said.slab());
            return file == null ? null : mapped(said, file);
        }
        if (said.slot() < 0) {
            throw said.refused("a record of no lease");
        }
        BorrowedSlab slab = slabs.knownOrNull(said);
        return slab == null ? null : lent(said, slab);
    }

    /// @param file the buffer's, or closed if this fails
    private SealedBuffer mapped(SlabRecord said, Descriptor file) throws IOException {
        if (said.length() < 0 || said.length() > limit) {
            file.close();
            throw said.refused("a message over the limit of " + limit);
        }
        return ReceivedFile.map(file, said.offset(), said.length());
    }

    /// Takes in what the lender has said of its slabs until now: that there is one, or that one is to be
    /// unmapped. Does not wait. For borrowers that [#open] records and do not [#receive]; to be called now
    /// and then, so that the lender can give idle slabs back.
    ///
    /// @throws EOFException at the end: the lender was closed or has died, or this is closed
    /// @throws SealRefusedException if what came is not what a lender says; the connection is over then
    /// @throws IOException if the system refuses
    public void listen() throws IOException {
        if (receiving.isHeldByCurrentThread() || !receiving.tryLock()) {
            // a thread that receives takes it in: another one, or this one, whose source calls back
            return;
        }
        try {
            while (slabs.hasRoom() && takeOne()) {}
        } catch (PosixException failure) {
            throw slabs.isClosed() ? closedMeanwhile(failure) : failure;
        } finally {
            receiving.unlock();
        }
    }

    /// Takes in the next thing that the lender has said of its slabs, or in a word: as [#listen], one and no more.
    ///
    /// @return false if there is none now, or another thread receives
    /// @throws EOFException at the end: the lender was closed or has died, or this is closed
    /// @throws SealRefusedException if what came is not what a lender says; the connection is over then
    /// @throws IOException if the system refuses, or the link does; the connection is over in the second case
    public boolean listenOnce() throws IOException {
        if (receiving.isHeldByCurrentThread() || !receiving.tryLock()) {
            return false;
        }
        try {
            return slabs.hasRoom() && takeOne();
        } catch (PosixException failure) {
            throw slabs.isClosed() ? closedMeanwhile(failure) : failure;
        } finally {
            receiving.unlock();
        }
    }

    /// Links another connection to this one: leases go back there from now on, where it takes them, and it hears the
    /// lender's words.
    ///
    /// @param other connection
    /// @throws IllegalStateException if there is one
    public void link(Link other) {
        Objects.requireNonNull(other, "other");
        synchronized (slabs) {
            if (link != null) {
                throw new IllegalStateException("borrower is linked already: " + this);
            }
            // volatile: with what it is made of
            link = other;
        }
        slabs.lifeline().giveBackBy(other::giveBack);
    }

    /// Says a word to the layer above the lender, over the socket: [SlabPeer.Words#onWord]. Does not wait.
    ///
    /// @param what it is about
    /// @param value of it
    /// @return false if the lender does not read now; true if it was said, or there is no lender any more
    public boolean tell(int what, long value) {
        return slabs.lifeline().say(SlabRecord.WORD, what, value);
    }

    /// Gives a lease back over the socket that the link had taken and that has not arrived there: as the close of its
    /// buffer does, once. Does not wait.
    ///
    /// @param slot of the lease
    /// @param generation of the lease
    /// @param slab of the lease
    /// @return false if the lender does not read now; true if it was said, or there is no lender any more
    public boolean giveBack(int slot, int generation, long slab) {
        return slabs.lifeline().say(slot, generation, slab);
    }

    private boolean takeOne() throws IOException {
        try (Rights rights = Rights.tryReceive(socket, record)) {
            if (rights.bytes() < 0) {
                return false;
            }
            if (rights.bytes() == 0) {
                throw new EOFException("connection ended");
            }
            SlabRecord said = SlabRecord.lent(record);
            boolean taken = switch (said.slot()) {
                case SlabRecord.SLAB, SlabRecord.UNMAP, SlabRecord.FILE, SlabRecord.WORD -> true;
                default -> false;
            };
            if (rights.bytes() < SlabRecord.TO_BORROWER || !taken) {
                throw said.refused("nothing of slabs, bytes=" + rights.bytes());
            }
            takeIn(said, rights);
            return true;
        } catch (SealRefusedException | RuntimeException | Error failure) {
            socket.breakStream(failure);
            throw failure;
        }
    }

    private void takeIn(SlabRecord said, Rights rights) throws IOException {
        if (said.slot() == SlabRecord.SLAB) {
            learnOrEnd(said, rights);
        } else if (said.slot() == SlabRecord.FILE) {
            slabs.keep(said, rights);
        } else if (said.slot() == SlabRecord.WORD) {
            checkNone(said, rights);
            hear(said);
        } else {
            checkNone(said, rights);
            slabs.remove(said).forget();
        }
    }

    /// The bytes that belong to a word are there: they went out with it.
    private void hear(SlabRecord said) throws IOException {
        // volatile: as above
        Link other = link;
        if (other == null) {
            throw said.refused("a word without a link");
        }
        try (Rights rights = restOfWord()) {
            if (rights.bytes() != withWord.byteSize()) {
                throw said.refused("a word that is cut off, bytes=" + rights.bytes());
            }
            checkNone(said, rights);
        } catch (IOException failure) {
            socket.breakStream(failure);
            throw failure;
        }
        try {
            other.onWord(said.generation(), said.offset(), said.length(), withWord.asByteBuffer());
        } catch (IOException failure) {
            socket.breakStream(failure);
            throw failure;
        }
    }

    private static EOFException closedMeanwhile(PosixException failure) {
        EOFException ended = new EOFException("borrower was closed");
        ended.initCause(failure);
        return ended;
    }

    /// Ends the borrowing: a `receive` that waits ends, nothing more comes. Buffers that are open stay good,
    /// and give themselves back as before; with the last of them the string goes. Again is harmless.
    @Override
    public void close() {
        slabs.close(socket::stopReceiving);
    }

    @Override
    public String toString() {
        return "SlabBorrower[" + socket + " " + slabs + "]";
    }

    private @Nullable SealedBuffer receiveOne() throws IOException {
        try (Rights rights = Rights.receive(socket, record)) {
            SlabRecord said = SlabRecord.lent(record);
            if (said.slot() >= 0) {
                checkNone(said, rights);
                return lent(said, slabs.known(said));
            }
            switch (said.slot()) {
                case SlabRecord.SLAB, SlabRecord.UNMAP, SlabRecord.FILE, SlabRecord.WORD -> takeIn(said, rights);
                case SlabRecord.SEALED -> {
                    return sealed(said, rights);
                }
                case SlabRecord.BYTES -> {
                    return bytes(said, rights);
                }
                default -> throw said.refused("a record of no kind");
            }
            return null;
        } catch (SealRefusedException | RuntimeException | Error failure) {
            socket.breakStream(failure);
            throw failure;
        }
    }

    private SealedBuffer sealed(SlabRecord said, Rights rights) throws IOException {
        Descriptor file = new Descriptor(BorrowedSlabs.one(rights), "memfd");
        rights.handedOn();
        return mapped(said, file);
    }

    /// A lender says both parts in one call: what is not there now does not come. The system is asked twice, for it
    /// may have no room for a moment.
    private Rights restOfWord() throws PosixException {
        Rights first = Rights.tryReceive(socket, withWord);
        return first.bytes() < 0 ? Rights.tryReceive(socket, withWord) : first;
    }

    private static void checkNone(SlabRecord said, Rights rights) throws SealRefusedException {
        if (rights.count() != 0) {
            throw said.refused("descriptors=" + rights.count());
        }
    }

    private SealedBuffer lent(SlabRecord said, BorrowedSlab slab) throws IOException {
        if (said.length() > limit) {
            throw said.refused("a message over the limit of " + limit);
        }
        if (said.offset() < 0 || said.length() < 0 || said.length() > slab.byteSize() - said.offset()) {
            throw said.refused("a message past the slab's end, byteSize=" + slab.byteSize());
        }
        return slab.lent(said);
    }

    /// A lease on a slab that is not known could not be understood.
    private void learnOrEnd(SlabRecord said, Rights rights) throws IOException {
        try {
            slabs.learn(said, rights);
        } catch (IOException failure) {
            socket.breakStream(failure);
            throw failure;
        }
    }

    private SealedBuffer bytes(SlabRecord said, Rights rights) throws IOException {
        if (rights.count() != 0 || said.length() < 0 || said.length() > limit) {
            throw said.refused("bytes over the limit of " + limit + ", descriptors=" + rights.count());
        }
        try {
            return WholeReceive.receive(socket, copies, said.length());
        } catch (IOException failure) {
            // what comes next is the rest of the message, and no record
            socket.breakStream(failure);
            throw failure;
        }
    }
}
