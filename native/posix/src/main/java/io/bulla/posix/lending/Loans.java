// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.Slab;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.memory.SealedFile;
import io.bulla.posix.internal.memory.SlabFile;
import io.bulla.posix.internal.stream.Rights;
import io.bulla.posix.internal.stream.StreamSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What one borrower has, whether it is there, and the records that it is told of both: all under one lock. Any
/// thread lends; the lender's thread takes back what the borrower, or its end, gives back. No thread waits here.
///
/// ```
/// silent --greet--> greeted --end, cutOff--> gone;  silent --end--> gone
/// ```
final class Loans {

    // the borrower, as others see it
    private final Object owner;
    private final int pid;
    private final StreamSocket socket;
    private final Runnable takeBack;
    private final LenderCounts counts;
    private final Object lock = new Object();

    // from here on under the lock
    private final LeaseTable leases;
    private final Map<Long, LentSlab> slabs = new HashMap<>();
    private final MemorySegment record = Arena.ofAuto().allocate(SlabRecord.TO_BORROWER, 8);
    private final ByteBuffer recordBytes = record.asByteBuffer();
    private @Nullable MemorySegment word;
    private long token;
    private boolean greeted;
    private boolean sendsBytes;
    private long files;
    private @Nullable String gone;
    private String name;

    /// @param owner of the slabs that it holds
    /// @param takeBack asked when the quota is used up; does not wait
    Loans(Object owner, int pid, StreamSocket socket, SlabQuota quota, LenderCounts counts, Runnable takeBack) {
        this.owner = owner;
        this.pid = pid;
        this.socket = socket;
        this.takeBack = takeBack;
        this.counts = counts;
        this.leases = new LeaseTable(quota);
        this.name = "borrower pid=" + pid;
    }

    long token() {
        synchronized (lock) {
            return token;
        }
    }

    void rename(String who) {
        synchronized (lock) {
            name = "borrower pid=" + pid + " token=" + token + " " + who;
        }
    }

    /// Leases that the borrower has.
    int leases() {
        synchronized (lock) {
            return leases.size();
        }
    }

    /// Bytes of these leases.
    long bytes() {
        synchronized (lock) {
            return leases.bytes();
        }
    }

    /// Why nothing can be lent to it any more; `null` while something can.
    @Nullable
    String gone() {
        synchronized (lock) {
            return gone;
        }
    }

    /// Whether it has not said who it is, and may still do so.
    boolean isSilent() {
        synchronized (lock) {
            return !greeted && gone == null;
        }
    }

    /// It has said who it is, and gets its greeting.
    ///
    /// @param with its end of the string
    /// @return false if that does not go at once
    boolean greet(long said, Descriptor with) throws PosixException {
        synchronized (lock) {
            token = said;
            name = "borrower pid=" + pid + " token=" + token;
            SlabRecord.lend(record, SlabRecord.MAGIC, SlabRecord.HELLO, SlabRecord.VERSION, 0, 0);
            greeted = tell(with);
            return greeted;
        }
    }

    /// It hears why there is no greeting, if that goes at once.
    void tellRefused(int errno, long count, long limit) {
        synchronized (lock) {
            SlabRecord.lend(record, SlabRecord.MAGIC, SlabRecord.REFUSED, errno, count, limit);
            try {
                Rights.trySend(socket, record, null);
            } catch (PosixException alreadyGone) {
                // it does not want to know
            }
        }
    }

    /// Lends a part of a slab.
    ///
    /// @param lease the borrower's from now on, if it is lent
    /// @param carried gets the record, in place of the socket
    /// @return false if it cannot be lent now; nothing has gone out then
    boolean lend(SealedBuffer lease, Slab slab, SlabFile file, long offset, @Nullable ByteBuffer carried)
            throws PosixException {
        long length = lease.byteSize();
        synchronized (lock) {
            checkThere();
            if (sendsBytes) {
                return false;
            }
            if (!leases.hasRoom(length)) {
                FlightEvents.refused(name, length, leases.size(), leases.bytes());
                takeBack.run();
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
        LentSlab fresh = new LentSlab(owner, this::wanted, slab);
        Long id = slab.id();
        boolean told = false;
        boolean held = false;
        try {
            slabs.put(id, fresh);
            held = fresh.hold();
            SlabRecord.lend(record, slab.id(), SlabRecord.SLAB, 0, 0, slab.byteSize());
            told = held && tell(file.descriptor());
            return told ? fresh : null;
        } finally {
            if (!told) {
                // also what a map has taken that found no heap to grow
                slabs.remove(id);
                if (held) {
                    fresh.letGo();
                }
            }
        }
    }

    /// Hands a part of a sealed file over: it is no lease.
    ///
    /// @param file that the caller keeps open
    /// @param carried gets the record, once the file has gone out
    /// @return false if it does not go at once
    boolean handOver(SealedFile file, long offset, long length, @Nullable ByteBuffer carried) throws PosixException {
        synchronized (lock) {
            checkThere();
            if (sendsBytes) {
                return false;
            }
            int kind = carried == null ? SlabRecord.SEALED : SlabRecord.FILE;
            SlabRecord.lend(record, ++files, kind, 0, offset, length);
            if (!tell(file.descriptor())) {
                return false;
            }
            if (carried != null) {
                carried.put(recordBytes.clear());
            }
            return true;
        }
    }

    /// Nothing is lent while bytes go out.
    void beginBytes() throws PosixException {
        synchronized (lock) {
            checkThere();
            sendsBytes = true;
        }
    }

    /// @param whole false if they may have gone out in part
    void endBytes(boolean whole) {
        synchronized (lock) {
            sendsBytes = false;
            gone = whole || socket.isOpen() || gone != null ? gone : "a message went out in part";
        }
    }

    /// The pool wants a slab back of which nothing is lent. Asked again if it is not told now.
    private void wanted(LentSlab on) {
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

    /// The borrower has given a lease back.
    ///
    /// @return to be closed; `null` if it has no such lease
    @Nullable
    SealedBuffer returned(SlabRecord said) {
        synchronized (lock) {
            return leases.take(said.slot(), said.generation(), said.slab());
        }
    }

    /// The borrower has given a lease back on another connection, which may be read after this one has ended. What
    /// is not true cuts it off.
    ///
    /// @return to be closed; `null` if the borrower is gone, now or before
    @Nullable
    SealedBuffer returnedElsewhere(int slot, int generation, long slab) {
        String lie;
        synchronized (lock) {
            if (gone != null) {
                return null;
            }
            SealedBuffer ended = leases.take(slot, generation, slab);
            if (ended != null) {
                return ended;
            }
            lie = "no such lease: slot=" + slot + " generation=" + generation + " slab=" + slab;
            gone = lied(lie);
        }
        counts.cutOff();
        end(lie);
        return null;
    }

    /// Sends a word and the bytes that belong to it, if that goes at once.
    boolean say(int what, long first, long second, ByteBuffer with) throws PosixException {
        synchronized (lock) {
            checkThere();
            if (sendsBytes) {
                return false;
            }
            MemorySegment both = word;
            if (both == null) {
                both = Arena.ofAuto().allocate(SlabRecord.WORD_BYTES, 8);
                word = both;
            }
            SlabRecord.lend(both, 0, SlabRecord.WORD, what, first, second);
            MemorySegment.copy(MemorySegment.ofBuffer(with), 0, both, SlabRecord.TO_BORROWER, SlabRecord.TO_BORROWER);
            return tell(both, null);
        }
    }

    /// The borrower has unmapped a slab.
    ///
    /// @return to be let go; `null` if it was not told to, or has something on it
    @Nullable
    LentSlab unmapped(long slab) {
        synchronized (lock) {
            LentSlab on = slabs.get(slab);
            if (on == null || !on.toldToUnmap || on.leases > 0) {
                return null;
            }
            slabs.remove(slab);
            return on;
        }
    }

    /// Any lease, once the borrower has no mapping any more.
    ///
    /// @return to be closed; `null` if there is none left
    @Nullable
    SealedBuffer takeAny() {
        synchronized (lock) {
            return leases.takeAny();
        }
    }

    /// Any slab, once the borrower has no mapping any more.
    ///
    /// @return to be let go; `null` if there is none left
    @Nullable
    LentSlab takeSlab() {
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

    /// It said what is not true: that is the reason, whatever came before.
    void cutOff(String lie) {
        synchronized (lock) {
            gone = lied(lie);
        }
        counts.cutOff();
        end(lie);
    }

    /// Another connection says that it said what is not true. One that is gone stays so for its first reason.
    void cutOffUnlessGone(String lie) {
        synchronized (lock) {
            if (gone != null) {
                return;
            }
            gone = lied(lie);
        }
        counts.cutOff();
        end(lie);
    }

    private static String lied(String lie) {
        return "cut off, it said what is not true: " + lie;
    }

    /// The connection is over. The mapping is not.
    void end(String why) {
        synchronized (lock) {
            gone = gone == null ? why : gone;
        }
        socket.close();
    }

    @Override
    public String toString() {
        // plain: a string is whole, the one before or the one after
        return name;
    }

    /// Sends the record, if it goes at once.
    private boolean tell(@Nullable Descriptor with) throws PosixException {
        return tell(record, with);
    }

    private boolean tell(MemorySegment what, @Nullable Descriptor with) throws PosixException {
        try {
            return Rights.trySend(socket, what, with);
        } catch (PosixException.PeerClosed closed) {
            gone = String.valueOf(closed.getMessage());
            throw closed;
        }
    }

    private void checkThere() throws PosixException {
        if (gone != null || !greeted) {
            throw new PosixException.PeerClosed("sendmsg", Errno.EPIPE.number(), name + " gone=[" + gone + "]");
        }
    }
}
