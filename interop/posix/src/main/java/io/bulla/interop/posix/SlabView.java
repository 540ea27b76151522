// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import io.bulla.interop.posix.BorrowedSlab.GiveBack;
import io.bulla.interop.posix.SlabBorrower.Tether;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A read-only mapping of a borrowed slab. Its holders are the slab, as long as it is the one for the next
/// lease, and the buffers on it.
final class SlabView extends RefCount {

    private final BorrowedSlab slab;
    private final Tether tether;
    private final Mapping mapping;
    private final Unmap unmap = new Unmap();
    // under the monitor: leases that go back when no view of the mapping is left
    private @Nullable GiveBack afterwards;

    private SlabView(BorrowedSlab slab, Tether tether, Mapping mapping) {
        super(null);
        this.slab = slab;
        this.tether = tether;
        this.mapping = mapping;
    }

    static SlabView map(BorrowedSlab slab, Tether tether, int fd, long bytes) throws PosixException {
        Unmapper.MAPPINGS.keepUp();
        Mapping mapping = Mapping.readOnly(fd, 0, bytes, Guard.SHARED);
        try {
            SlabView view = new SlabView(slab, tether, mapping);
            if (!tether.enter()) {
                throw new PosixException("mmap", Errno.EBADF.number(), "borrower=closed");
            }
            return view;
        } catch (Throwable failure) {
            mapping.close();
            throw failure;
        }
    }

    MemorySegment memory() {
        return mapping.segment();
    }

    /// @return false if it was left by all
    boolean enter() {
        return retain(1);
    }

    void leave() {
        release();
    }

    /// A lease of which a raw view was given out: its memory may be written again only once that view throws.
    void endFor(GiveBack lease) {
        synchronized (this) {
            lease.next = afterwards;
            afterwards = lease;
        }
        slab.abandon(this);
    }

    @Override
    protected void free() {
        Unmapper.MAPPINGS.later(unmap);
    }

    private synchronized @Nullable GiveBack pollAfterwards() {
        GiveBack one = afterwards;
        if (one != null) {
            afterwards = one.next;
            one.next = null;
        }
        return one;
    }

    private final class Unmap extends Unmapper.Freeable {

        private boolean unmapped;

        @Override
        void free() {
            if (!unmapped) {
                mapping.close();
                unmapped = true;
            }
            for (GiveBack each = pollAfterwards(); each != null; each = pollAfterwards()) {
                each.now();
            }
            slab.unmapped();
            tether.leave();
        }
    }
}
