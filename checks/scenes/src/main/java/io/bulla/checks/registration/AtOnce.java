// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Ending;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Mark;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.Traits;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/// A device that costs nothing: what is left is the bookkeeping.
public final class AtOnce implements Registrar {

    /// Makes one that knows no memory yet.
    public AtOnce() {}

    private record Known(long key) implements Mark {}

    private final Traits traits = new Traits(
            "at-once", EnumSet.allOf(Access.class), false, false, Long.MAX_VALUE, Long.MAX_VALUE, Fence.COMPLETION);

    @Override
    public Traits traits() {
        return traits;
    }

    @Override
    public Mark register(Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey) {
        return new Known(wantedKey);
    }

    @Override
    public void retire(Mark mark, Ending ending, Runnable memoryIsFree) {
        memoryIsFree.run();
    }

    @Override
    public void close() {}
}
