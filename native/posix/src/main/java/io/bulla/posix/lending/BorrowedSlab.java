// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.Generation;
import io.bulla.posix.internal.calls.Descriptor;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A slab of a lender's, as a borrower knows it. Any thread may call: what changes is under its monitor.
///
/// ```
/// known --forget: told to unmap, or the borrower closes--> forgotten --nothing lent, nothing mapped--> said
/// so, gone
/// ```
///
/// It is mapped for the first lease, and stays so for the next. A lease of which a raw view was given out has
/// the mapping ended instead, after its last buffer; then a view that is left throws, and the lease goes
/// back.
final class BorrowedSlab implements SlabView.Owner {

    /// The borrower that a slab is of.
    interface Borrower {

        Lifeline lifeline();

        boolean isClosed();

        /// The descriptor of a slab is closed.
        void closedOne();
    }

    private final Borrower borrower;
    private final long id;
    private final Descriptor file;
    private final long byteSize;
    // made before it is needed: saying so must not fail for want of heap
    private final Gone saysGone = new Gone();
    // from here on under the monitor
    private @Nullable SlabView current;
    private int views;
    // leases that were not given back yet
    private int owed;
    private boolean forgotten;
    private boolean gone;

    BorrowedSlab(Borrower borrower, long id, Descriptor file, long byteSize) {
        this.borrower = borrower;
        this.id = id;
        this.file = file;
        this.byteSize = byteSize;
    }

    long byteSize() {
        return byteSize;
    }

    /// A buffer of a lease. If there can be none, the lease goes back.
    SealedBuffer lent(SlabRecord said) throws IOException {
        synchronized (this) {
            owed++;
        }
        SlabView view = null;
        boolean passedOn = false;
        try {
            GiveBack giveBack = new GiveBack(this, said.slot(), said.generation());
            view = entered();
            MemorySegment bytes = view.memory().asSlice(said.offset(), said.length());
            Borrowed lease = new Borrowed(view, giveBack);
            // it gives back and leaves, also if this fails
            passedOn = true;
            return SealedBuffer.adopt(bytes, lease, lease);
        } finally {
            if (!passedOn) {
                if (view != null) {
                    view.leave();
                }
                refuse(said);
            }
        }
    }

    /// A lease that cannot be used. If the lender does not read now, it keeps it until the string hangs up.
    private void refuse(SlabRecord said) {
        if (borrower.lifeline().giveBack(said.slot(), said.generation(), id)) {
            settled();
        }
    }

    /// The mapping, with one more holder.
    private SlabView entered() throws IOException {
        synchronized (this) {
            if (forgotten) {
                throw new EOFException("borrower was closed");
            }
            SlabView known = current;
            if (known != null && known.enter()) {
                return known;
            }
            SlabView fresh = SlabView.map(this, borrower.lifeline(), file.fd(), byteSize);
            views++;
            current = fresh;
            fresh.enter();
            return fresh;
        }
    }

    /// No more leases on it come.
    void forget() {
        SlabView last;
        synchronized (this) {
            forgotten = true;
            last = current;
            current = null;
        }
        if (last != null) {
            last.leave();
        }
        sayIfGone();
    }

    @Override
    public void abandon(SlabView view) {
        synchronized (this) {
            if (current != view) {
                return;
            }
            current = null;
        }
        view.leave();
    }

    @Override
    public void unmapped() {
        synchronized (this) {
            views--;
        }
        sayIfGone();
    }

    private void settled() {
        synchronized (this) {
            owed--;
        }
        sayIfGone();
    }

    /// After the last lease, as the lender checks.
    private void sayIfGone() {
        synchronized (this) {
            if (gone || !forgotten || views > 0 || owed > 0) {
                return;
            }
            gone = true;
        }
        file.close();
        borrower.closedOne();
        saysGone.now();
    }

    private static final class GiveBack extends PendingNotice {

        private final BorrowedSlab slab;
        private final int slot;
        private final int generation;
        // once and no more: a second time would be a lie
        private boolean said;

        GiveBack(BorrowedSlab slab, int slot, int generation) {
            this.slab = slab;
            this.slot = slot;
            this.generation = generation;
        }

        @Override
        boolean say() {
            said = said || slab.borrower.lifeline().giveBack(slot, generation, slab.id);
            if (said) {
                slab.settled();
            }
            return said;
        }
    }

    private final class Gone extends PendingNotice {

        @Override
        boolean say() {
            return borrower.isClosed() || borrower.lifeline().say(SlabRecord.UNMAP, 0, id);
        }
    }

    /// One lease of a borrowed buffer, and the stamp of its bytes: the stamp ends first, then the lease goes
    /// back.
    private static final class Borrowed extends Generation implements Runnable {

        private final SlabView view;
        private final PendingNotice giveBack;

        Borrowed(SlabView view, PendingNotice giveBack) {
            this.view = view;
            this.giveBack = giveBack;
        }

        /// The last handle is closed.
        @Override
        public void run() {
            switch (end()) {
                case FREE -> rested();
                case ESCAPED -> {
                    view.endFor(giveBack);
                    view.leave();
                }
                // the call that still reads says when
                case RESTS -> {}
                case AGAIN -> throw new IllegalStateException("lease given back twice");
            }
        }

        @Override
        protected void rested() {
            try {
                giveBack.now();
            } finally {
                view.leave();
            }
        }
    }
}
