// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.refcount.RefCount;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// One life of a slab's memory: from the first carve until everything that was carved has come home.
///
/// Its holders are its slots, in a buffer's hands or in a cache, and its source while it carves. The memory may
/// have another life after that, which is another slab: an id is never used again in the process.
final class Slab extends RefCount {

    private static final AtomicLong IDS = new AtomicLong();
    private static final VarHandle QUARANTINED;

    static {
        try {
            QUARANTINED = MethodHandles.lookup().findVarHandle(Slab.class, "quarantined", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // volatile: the atomic step alone
    private final long id = IDS.incrementAndGet();
    private final SlabSource source;
    final SlabSupplier.Memory memory;
    final long byteSize;
    // under the source's lock
    long carved;
    long emptySince;
    // of those that are empty; written before the slab is shown there
    @Nullable
    Slab next;
    // through QUARANTINED only
    private long quarantined;

    /// A slab whose one holder is the caller.
    Slab(SlabSource source, SlabSupplier.Memory memory) {
        super(null);
        this.source = source;
        this.memory = memory;
        this.byteSize = memory.segment().byteSize();
    }

    long id() {
        return id;
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
    protected void free() {
        source.emptied(this);
    }
}
