// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Ending;
import io.bulla.pool.device.Peer;
import org.jspecify.annotations.Nullable;

/// What a device knows of a whole slab, for operations of this process. It is found by a field of the slab, and
/// stays until it was idle and its room is wanted.
final class Registration extends Marked {

    private final MarkState state = new MarkState();
    // plain: for the eviction, a guess
    private long lastUsed;

    Registration(Registrations registrations, Slab slab) {
        super(registrations, slab, 0, slab.byteSize());
    }

    @Override
    public Object owner() {
        return registrations();
    }

    /// @return `null` unless it is live
    @Nullable
    Use use() {
        return state.tryUse() ? new Use(this) : null;
    }

    void endUse() {
        lastUsed = registrations().tick();
        if (state.endUse()) {
            retire();
        }
    }

    /// Another round of the cache has begun when it was used last.
    long lastUsed() {
        return lastUsed;
    }

    boolean isIdle() {
        return state.isIdle();
    }

    long uses() {
        return state.uses();
    }

    @Override
    boolean shown() {
        lastUsed = registrations().tick();
        if (state.live()) {
            return true;
        }
        retire();
        registrations().freeIfEnded(this);
        return false;
    }

    @Override
    void abandon() {
        state.stop();
        shown();
    }

    @Override
    void refused() {
        state.refused();
    }

    boolean evict() {
        boolean mine = state.tryEvict();
        if (mine) {
            retire();
        }
        return mine;
    }

    void stop() {
        if (state.stop()) {
            retire();
        }
    }

    private void retire() {
        registrations().retire(this, Ending.IDLE);
    }

    @Override
    void memoryIsFree() {
        if (state.free()) {
            registrations().gone(this);
        } else {
            registrations().surprised();
        }
    }

    @Override
    void deviceEnded() {
        if (state.free()) {
            registrations().gone(this);
        }
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
        return state + " uses=" + state.uses();
    }

    @Override
    public String toString() {
        return "Registration[slab=" + slab().id() + " " + phase() + "]";
    }
}
