// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.Errno;
import io.bulla.posix.SealRefusedException;
import io.bulla.posix.internal.calls.CallFailure;
import io.bulla.posix.internal.calls.Descriptor;
import io.bulla.posix.internal.calls.DescriptorRoom;
import io.bulla.posix.internal.calls.Memfd;
import io.bulla.posix.internal.memory.SealCheck;
import io.bulla.posix.internal.stream.Rights;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a lender has given one borrower: its slabs, and files whose records another connection has still to bring.
/// The thread that receives adds to them, any thread may take or close.
final class BorrowedSlabs implements BorrowedSlab.Borrower {

    // more are left in the socket, which holds about as many
    private static final int MOST_FILES = 1024;

    private final Lifeline lifeline;
    private final DescriptorRoom room = new DescriptorRoom();

    // from here on under this monitor
    private final Map<Long, BorrowedSlab> slabs = new HashMap<>();
    private final Map<Long, Descriptor> files = new HashMap<>();
    private boolean closed;

    /// @param lifeline held by the borrower until [#close()]
    BorrowedSlabs(Lifeline lifeline) {
        this.lifeline = lifeline;
    }

    /// The lender has one more slab.
    void learn(SlabRecord said, Rights rights) throws IOException {
        int fd = one(rights);
        Memfd.Extent extent = SealCheck.of(fd, SealCheck.SHARED_SLAB, 0, said.length());
        if (said.length() < 1 || extent.taken() < extent.bytes()) {
            throw said.refused("a slab with holes, taken=" + extent.taken());
        }
        BorrowedSlab slab = new BorrowedSlab(this, said.slab(), new Descriptor(fd, "memfd"), said.length());
        Long id = said.slab();
        synchronized (this) {
            checkOpen();
            if (slabs.containsKey(id)) {
                throw said.refused("a slab twice");
            }
            checkRoom(said);
            put(slabs, id, slab);
            rights.handedOn();
        }
    }

    /// Or nothing: a map that has no heap to grow has taken the entry already.
    private <T> void put(Map<Long, T> all, Long id, T one) {
        boolean done = false;
        try {
            all.put(id, one);
            done = true;
        } finally {
            if (!done) {
                all.remove(id, one);
                room.giveBack();
            }
        }
    }

    /// The slab that a record names; `null` if it has not come.
    synchronized @Nullable BorrowedSlab knownOrNull(SlabRecord said) throws EOFException {
        checkOpen();
        return slabs.get(said.slab());
    }

    /// The slab that a record names.
    synchronized BorrowedSlab known(SlabRecord said) throws IOException {
        checkOpen();
        return checkKnown(slabs.get(said.slab()), said);
    }

    /// The slab that a record names, for the last time.
    synchronized BorrowedSlab remove(SlabRecord said) throws IOException {
        checkOpen();
        return checkKnown(slabs.remove(said.slab()), said);
    }

    /// A file has come before its record.
    void keep(SlabRecord said, Rights rights) throws IOException {
        Descriptor file = new Descriptor(one(rights), "memfd");
        Long id = said.slab();
        synchronized (this) {
            checkOpen();
            if (files.size() >= MOST_FILES || files.containsKey(id)) {
                throw said.refused("a file twice, or too many: files=" + files.size());
            }
            checkRoom(said);
            put(files, id, file);
            rights.handedOn();
        }
    }

    /// Whether one more file may come.
    synchronized boolean hasRoom() {
        return files.size() < MOST_FILES;
    }

    /// A file that was kept, the caller's from now on.
    synchronized @Nullable Descriptor kept(long file) {
        Descriptor kept = files.remove(file);
        if (kept != null) {
            // the opener's now
            room.giveBack();
        }
        return kept;
    }

    /// The one descriptor that came with a record.
    static int one(Rights rights) throws IOException {
        if (rights.truncated()) {
            throw CallFailure.of("recvmsg", Errno.EMFILE.number(), "descriptors=" + rights.count());
        }
        if (rights.count() != 1) {
            throw new SealRefusedException("it comes with one descriptor: descriptors=" + rights.count());
        }
        return rights.first();
    }

    @Override
    public Lifeline lifeline() {
        return lifeline;
    }

    @Override
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public void closedOne() {
        room.giveBack();
    }

    /// Nothing more comes. What is open stays good. Again is harmless.
    ///
    /// @param first run before anything is let go of
    void close(Runnable first) {
        List<BorrowedSlab> left;
        List<Descriptor> unopened;
        synchronized (this) {
            if (closed) {
                return;
            }
            left = new ArrayList<>(slabs.values());
            unopened = new ArrayList<>(files.values());
            closed = true;
            slabs.clear();
            files.clear();
        }
        first.run();
        for (Descriptor each : unopened) {
            each.close();
            room.giveBack();
        }
        left.forEach(BorrowedSlab::forget);
        lifeline.leave();
    }

    @Override
    public synchronized String toString() {
        return "slabs=" + slabs.size() + (closed ? " closed" : "");
    }

    private void checkOpen() throws EOFException {
        if (closed) {
            throw new EOFException("borrower was closed");
        }
    }

    private void checkRoom(SlabRecord said) throws SealRefusedException {
        if (!room.take()) {
            throw said.refused("more descriptors than a lender may have kept here: " + room);
        }
    }

    private static BorrowedSlab checkKnown(@Nullable BorrowedSlab slab, SlabRecord said) throws SealRefusedException {
        if (slab == null) {
            throw said.refused("no such slab");
        }
        return slab;
    }
}
