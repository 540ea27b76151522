// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RetireReason;
import org.jspecify.annotations.Nullable;

/// What a device knows of a whole slab, for operations of this process. It is found by a field of the slab, and
/// stays until it was idle and its room is wanted.
final class Registration extends Marked {

    // plain: for the eviction, a guess
    private long lastUsed;

    Registration(Owner marks, Slab slab) {
        super(marks, slab, 0, slab.byteSize());
    }

    @Override
    public Object owner() {
        return marks();
    }

    /// @return `null` unless it is live
    @Nullable
    RegistrationUse use() {
        // made before it is counted: what is counted has an end
        RegistrationUse use = new RegistrationUse(this);
        return tryUse() ? use : null;
    }

    void useEnded() {
        lastUsed = marks().tick();
        if (endUse()) {
            retire();
        }
    }

    /// Another round of the cache has begun when it was used last.
    long lastUsed() {
        return lastUsed;
    }

    @Override
    boolean shown() {
        lastUsed = marks().tick();
        return super.shown();
    }

    boolean evict() {
        boolean mine = tryEvict();
        if (mine) {
            retire();
        }
        return mine;
    }

    void retireWhenIdle() {
        if (stop()) {
            retire();
        }
    }

    @Override
    void retire() {
        marks().retire(this, RetireReason.IDLE);
    }

    @Override
    public void wanted() {
        evict();
    }

    @Override
    Access access() {
        return Access.LOCAL;
    }

    @Override
    @Nullable
    Peer peer() {
        return null;
    }

    @Override
    String phase() {
        return isQuarantined() ? "quarantined" : super.toString() + " uses=" + uses();
    }

    @Override
    public String toString() {
        return "Registration[slab=" + slab().id() + " " + phase() + "]";
    }
}
