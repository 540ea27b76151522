// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RetireReason;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/// A device that costs nothing: what is left is the bookkeeping.
public final class AtOnce implements Registrar {

    /// Makes one that knows no memory yet.
    public AtOnce() {}

    private record Known(long key) implements MemoryRegistration {}

    private final DeviceCapabilities capabilities = new DeviceCapabilities(
            "at-once", EnumSet.allOf(Access.class), false, false, Long.MAX_VALUE, Long.MAX_VALUE, Fence.COMPLETION);

    @Override
    public DeviceCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public MemoryRegistration register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey) {
        return new Known(wantedKey);
    }

    @Override
    public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
        memoryIsFree.run();
    }

    @Override
    public void close() {}
}
