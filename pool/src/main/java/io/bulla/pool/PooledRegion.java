// SPDX-License-Identifier: Apache-2.0
package io.bulla.pool;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.internal.TrustedRegion;
import io.bulla.iovec.Generation;
import io.bulla.pool.Slab.Slot;
import java.lang.foreign.MemorySegment;

/// One use of a slot, and the stamp of this use, which also says how far it has come: a field of its own would make
/// each region a third larger.
///
/// ```
/// written --seal--> sealed --release--> the stamp ends, then the slot goes back, rests, or to the quarantine
/// written --release--> the slot goes back: no view of it was ever given out
/// ```
final class PooledRegion extends Generation implements Region, TrustedRegion {

    // the builder's until it is sealed; afterwards it does not change
    @SuppressWarnings("NullAway.Init") // before the region is shown
    private Slot slot;

    // the slot's, which a look for a device's registration would have to wait for
    @SuppressWarnings("NullAway.Init") // as above
    private Slab slab;

    PooledRegion() {
        super(true);
    }

    void on(Slot taken) {
        slot = taken;
        slab = taken.slab;
    }

    Slot slot() {
        checkHeld();
        return slot;
    }

    /// The slot of a region that is written to.
    Slot writable() {
        checkHeld();
        checkNotSealed();
        return slot;
    }

    /// For one that holds a handle: the slot of a sealed region does not change.
    Slab slab() {
        return slab;
    }

    boolean holds(MemorySegment part) {
        long offset = part.address() - slot.memory.address();
        return offset >= 0 && offset + part.byteSize() <= slot.byteSize();
    }

    @Override
    public MemorySegment segment() {
        checkHeld();
        return slot.memory;
    }

    @Override
    public long byteSize() {
        return slot.byteSize();
    }

    @Override
    public Generation generation() {
        return this;
    }

    /// Views are going to be given out.
    MemorySegment seal(long used) {
        checkHeld();
        checkNotSealed();
        MemorySegment bytes = slot.readOnly(used);
        shown();
        return bytes;
    }

    @Override
    public void release() {
        if (isWritten()) {
            checkHeld();
            dropped();
        } else {
            switch (end()) {
                case FREE -> {}
                case ESCAPED -> {
                    owner().quarantine(slot);
                    return;
                }
                case RESTS -> {
                    return;
                }
                case AGAIN -> throw given();
            }
        }
        // the one call: what is compiled of this has all that lies behind it once
        owner().giveBack(slot);
    }

    @Override
    protected void rested() {
        owner().giveBack(slot);
    }

    private Slab.Owner owner() {
        return slab.owner;
    }

    private void checkHeld() {
        // finds a mistake, not a race; two releases of a sealed one are told apart by the step that ends the stamp
        if (isEnded()) {
            throw given();
        }
    }

    private void checkNotSealed() {
        if (!isWritten()) {
            throw new IllegalStateException("region already sealed: byteSize=" + slot.byteSize());
        }
    }

    private IllegalStateException given() {
        return new IllegalStateException("region already given back: byteSize=" + slot.byteSize());
    }
}
