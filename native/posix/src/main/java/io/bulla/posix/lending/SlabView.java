// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.lending;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Mapping;
import io.bulla.posix.internal.calls.Unmapper;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A read-only mapping of a borrowed slab. Its holders are the slab, as long as it is the one for the next
/// lease, and the buffers on it. Any thread may call.
final class SlabView extends RefCount {

    /// The slab that mappings are of.
    interface Owner {

        /// A raw view of this mapping is out: the next lease gets another one.
        void abandon(SlabView view);

        /// A mapping has ended.
        void unmapped();
    }

    private final Owner owner;
    private final Lifeline lifeline;
    private final Mapping mapping;
    private final Unmap unmap = new Unmap();
    // under the monitor: leases that go back when no view of the mapping is left
    private @Nullable PendingNotice afterwards;

    private SlabView(Owner owner, Lifeline lifeline, Mapping mapping) {
        super(null);
        this.owner = owner;
        this.lifeline = lifeline;
        this.mapping = mapping;
    }

    static SlabView map(Owner owner, Lifeline lifeline, int fd, long bytes) throws PosixException {
        Unmapper.MAPPINGS.keepUp();
        Mapping mapping = Mapping.readOnly(fd, 0, bytes, true);
        try {
            SlabView view = new SlabView(owner, lifeline, mapping);
            if (!lifeline.enter()) {
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
    void endFor(PendingNotice lease) {
        synchronized (this) {
            lease.next = afterwards;
            afterwards = lease;
        }
        owner.abandon(this);
    }

    @Override
    protected void free() {
        Unmapper.MAPPINGS.later(unmap);
    }

    private synchronized @Nullable PendingNotice pollAfterwards() {
        PendingNotice one = afterwards;
        if (one != null) {
            afterwards = one.next;
            one.next = null;
        }
        return one;
    }

    private final class Unmap extends Unmapper.Freeable {

        private boolean unmapped;

        @Override
        public void free() {
            if (!unmapped) {
                mapping.close();
                unmapped = true;
            }
            for (PendingNotice each = pollAfterwards(); each != null; each = pollAfterwards()) {
                each.now();
            }
            owner.unmapped();
            lifeline.leave();
        }
    }
}
