// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.internal.IntrusiveStack;
import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// One life of a slab's memory: from the first carve until everything that was carved has come home.
///
/// Its holders are its slots, in a buffer's hands or in a cache, its source while it carves, and what devices
/// know of it: each [Holder]. So its memory is neither used for another slab, nor given back, while a device may
/// touch it.
/// The memory may have another life after that, which is another slab: an id is never used again in the process.
public final class Slab extends RefCount {

    /// What keeps a slab beside its regions: a registration with a device, or what a peer may write to.
    public interface Holder {

        /// For whom it holds: at most one holder of an owner holds a slab.
        ///
        /// @return the same object each time
        Object owner();

        /// Only holders hold the slab now, and its memory is wanted. Called by the source's thread, or by one
        /// that trims or needs memory, under no lock of the source's, and more than once. A holder that can let
        /// go does so, soon.
        void wanted();
    }

    /// Where the slots of a slab go. A class of which the pool has one subclass: a call to it is a direct one.
    abstract static class Owner {

        /// A slot that may be used again.
        abstract void giveBack(Slot slot);

        /// A slot whose bytes a raw view may still read.
        abstract void quarantine(Slot slot);

        /// The slab has no holder any more.
        abstract void emptied(Slab slab);

        /// The source is closed, and so many slabs are in use. From time to time, by the source's thread.
        abstract void heldAfterTheEnd(int slabs);
    }

    /// Slabs that any thread puts, and one takes.
    static final class Stack extends IntrusiveStack<Slab> {

        @Override
        protected @Nullable Slab next(Slab slab) {
            return slab.next;
        }

        @Override
        protected void link(Slab slab, @Nullable Slab next) {
            slab.next = next;
        }
    }

    /// A carved piece of a slab. In one place at a time: a region, a magazine, a chain of the depot, or at home.
    static final class Slot {

        /// Of a region that has a slab of its own.
        static final int WHOLE = -1;

        final Slab slab;
        final MemorySegment memory;
        final int sizeClass;
        final long byteSize;
        // in a list; the list's owner's
        @Nullable
        Slot next;

        // made for the first message that fills the slot, by the thread that seals it
        private @Nullable MemorySegment whole;

        Slot(Slab slab, MemorySegment memory, int sizeClass) {
            this.slab = slab;
            this.memory = memory;
            this.sizeClass = sizeClass;
            this.byteSize = memory.byteSize();
        }

        long byteSize() {
            return byteSize;
        }

        /// The first bytes. A message that fills the slot has the view of the one before.
        MemorySegment readOnly(long used) {
            if (used != byteSize) {
                return memory.asSlice(0, used).asReadOnly();
            }
            MemorySegment all = whole;
            if (all == null) {
                all = memory.asReadOnly();
                whole = all;
            }
            return all;
        }
    }

    // of a vector that is one region and the stamp of its own memory
    private static final Class<?> WITH_ITS_OWN_STAMP = IoVec.of(MemorySegment.ofArray(new byte[1]))
            .stamped(new Generation())
            .getClass();
    private static final Holder[] NONE = {};

    private static final AtomicLong IDS = new AtomicLong();
    private static final VarHandle QUARANTINED;
    private static final VarHandle HELD;
    private static final VarHandle DEVICES;
    private static final VarHandle FIRST;

    static {
        try {
            MethodHandles.Lookup own = MethodHandles.lookup();
            QUARANTINED = own.findVarHandle(Slab.class, "quarantined", long.class);
            HELD = own.findVarHandle(Slab.class, "held", Holder[].class);
            DEVICES = own.findVarHandle(Slab.class, "devices", int.class);
            FIRST = own.findVarHandle(Slab.class, "first", Holder.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // volatile: the atomic step alone
    private final long id = IDS.incrementAndGet();
    final Owner owner;
    final SlabSupplier.Memory memory;
    final long byteSize;
    // under the source's lock: bytes that were carved, and those when it was looked at last
    long carved;
    long carvedThen;
    long emptySince;
    // of those that are empty; written before the slab is shown there
    @Nullable
    Slab next;
    // through QUARANTINED only
    private long quarantined;
    // volatile: a look without a lock; written under this monitor; once it is shown, the array changes only in that one
    // that lets go gives its place to the last: what is in it was there before it was shown
    private volatile Holder[] held = NONE;
    // volatile: so many of them count; read before the array, written after it
    private volatile int devices;
    // volatile: as the array, whose first one it is; a use of a registration would have to wait for the array
    private volatile @Nullable Holder first;
    // since when holders alone hold it, 0 while something else does; under the source's lock
    long aloneSince;

    /// A slab whose one holder is the caller.
    Slab(Owner owner, SlabSupplier.Memory memory) {
        super(null);
        this.owner = owner;
        this.memory = memory;
        this.byteSize = memory.segment().byteSize();
    }

    /// The slab that a region of a buffer lies in: found by the stamp that the bytes carry, not by their
    /// address.
    ///
    /// @param bytes of a buffer with an open handle
    /// @param region 0 to `bytes.regionCount() - 1`
    /// @return `null` if the memory is not a [SlabSource]'s
    /// @throws IndexOutOfBoundsException if there is no such region
    /// @throws IllegalStateException if a stamp has ended
    public static @Nullable Slab of(IoVec bytes, int region) {
        if (bytes.getClass() == WITH_ITS_OWN_STAMP) {
            // without a look at the memory, for which a use of a registration would have to wait
            Objects.checkIndex(region, bytes.regionCount());
            return bytes.stamp(0) instanceof PooledRegion pooled ? pooled.slab() : null;
        }
        MemorySegment segment = bytes.lent().region(region);
        for (int i = 0; i < bytes.stampCount(); i++) {
            // of several parts, perhaps: the stamp whose own memory has these bytes
            if (bytes.stamp(i) instanceof PooledRegion pooled && pooled.holds(segment)) {
                return pooled.slab();
            }
        }
        return null;
    }

    /// The slab that a region was carved from.
    ///
    /// @param region not given back
    /// @return `null` if the region is not a [SlabSource]'s, or its source does not use memory again
    public static @Nullable Slab of(MemorySource.Region region) {
        return region instanceof PooledRegion pooled ? pooled.slot().slab : null;
    }

    /// Number of the slab.
    ///
    /// @return one that no other slab of this process has, before or after
    public long id() {
        return id;
    }

    /// Where the slab's memory begins: for a device. It is no name for the slab, for another one may have it
    /// later.
    ///
    /// @return an address, a multiple of [SlabSource#SLAB]
    public long address() {
        return memory.segment().address();
    }

    /// Size of the slab.
    ///
    /// @return bytes, a multiple of [SlabSource#SLAB]
    public long byteSize() {
        return byteSize;
    }

    /// Adds a holder.
    ///
    /// @param holder lets go later
    /// @return false if a holder of the same owner is there, or the slab's life is over
    public boolean hold(Holder holder) {
        Object owner = holder.owner();
        synchronized (this) {
            Holder[] before;
            do {
                before = held;
                if (holder(owner) != null) {
                    return false;
                }
                // a holder that was asked for its owner may have called back
            } while (held != before);
            int count = devices;
            Holder[] after = Arrays.copyOf(before, count + 1);
            after[count] = holder;
            if (!retain(1)) {
                return false;
            }
            show(after, count + 1);
            return true;
        }
    }

    /// Ends a holder's hold, once. Takes no memory.
    ///
    /// @param holder that holds, compared by identity
    /// @throws IllegalStateException if it does not hold this slab, or not any more
    public void letGo(Holder holder) {
        synchronized (this) {
            Holder[] all = held;
            int count = devices;
            int at = 0;
            while (at < count && all[at] != holder) {
                at++;
            }
            if (at == count) {
                throw new IllegalStateException("does not hold this slab: slab=" + id + " holder=" + holder);
            }
            all[at] = all[count - 1];
            show(count == 1 ? NONE : all, count - 1);
        }
        release();
    }

    /// The holder of an owner.
    ///
    /// @param owner compared by identity
    /// @return `null` if it has none here
    public @Nullable Holder holder(Object owner) {
        Holder one = first;
        if (one != null && one.owner() == owner) {
            return one;
        }
        int count = devices;
        Holder[] all = held;
        for (int i = 0; i < Math.min(count, all.length); i++) {
            Holder each = all[i];
            if (each.owner() == owner) {
                return each;
            }
        }
        return null;
    }

    /// Under this monitor.
    private void show(Holder[] after, int count) {
        // release: each look finds whole entries, and with a count no array that was before it
        HELD.setRelease(this, after);
        DEVICES.setRelease(this, count);
        FIRST.setRelease(this, count == 0 ? null : after[0]);
    }

    /// How many devices, or peers of them, may touch the memory.
    ///
    /// @return at least 0
    public int holderCount() {
        return devices;
    }

    boolean isHeldByDevices() {
        return devices > 0;
    }

    /// Nothing but devices has kept the slab since `before`, as far as this was asked. Under the source's lock.
    ///
    /// @param before `Long.MAX_VALUE` for any time
    boolean isAloneSince(long before) {
        int count = devices;
        if (count == 0 || holders() != count) {
            aloneSince = 0;
            return false;
        }
        if (aloneSince == 0) {
            aloneSince = System.nanoTime() | 1;
        }
        return before == Long.MAX_VALUE || aloneSince - before <= 0;
    }

    void askHolders() {
        int count = devices;
        Holder[] all = held;
        for (int i = 0; i < Math.min(count, all.length); i++) {
            try {
                all[i].wanted();
            } catch (Throwable unheard) {
                // it still holds, and is asked again
            }
        }
    }

    /// More holders, for slots that leave for a cache.
    ///
    /// @return false if the slab's life is over
    boolean hold(int slots) {
        return retain(slots);
    }

    void leave() {
        release();
    }

    /// A slot whose bytes a raw view may still read: it comes home, and is not used again in this memory.
    void quarantine(long bytes) {
        // volatile: before the leave below, so that the one who finds the slab empty finds this
        QUARANTINED.getAndAdd(this, bytes);
        release();
    }

    /// Bytes in quarantine.
    long quarantined() {
        // opaque: a guess while the slab lives; exact for the one who finds it empty (RefCount 1)
        return (long) QUARANTINED.getOpaque(this);
    }

    /// Whether slots that come back should go home rather than to a cache.
    boolean drains() {
        return quarantined() > byteSize / 2;
    }

    @Override
    public String toString() {
        return "Slab[id=" + id + " bytes=" + byteSize + " holders=" + holders() + " devices=" + devices + "]";
    }

    @Override
    protected void free() {
        owner.emptied(this);
    }
}
