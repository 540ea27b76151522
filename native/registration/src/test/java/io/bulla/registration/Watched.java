// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.DeviceCapabilities;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.Registrar;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.pool.device.RetireReason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A device whose calls a test stands in.
final class Watched implements Registrar {

    interface Step {
        void at(String call) throws Exception;
    }

    private final Registrar device;
    private final Step step;
    private @Nullable SlabSource trimmed;

    Watched(Registrar device, Step step) {
        this.device = device;
        this.step = step;
    }

    /// The source's own lock is free, too.
    void alsoTrims(SlabSource memory) {
        trimmed = memory;
    }

    @Override
    public DeviceCapabilities capabilities() {
        return device.capabilities();
    }

    @Override
    public MemoryRegistration register(
            Slab slab, long offset, long length, Access access, @Nullable Peer peer, long wantedKey)
            throws RegistrationRefusedException {
        at("register");
        return device.register(slab, offset, length, access, peer, wantedKey);
    }

    @Override
    public void retire(MemoryRegistration mark, RetireReason reason, Runnable memoryIsFree) {
        at("retire");
        device.retire(mark, reason, memoryIsFree);
    }

    @Override
    public void close() {
        device.close();
    }

    private void at(String call) {
        try {
            step.at(call);
            SlabSource memory = trimmed;
            if (memory != null) {
                CompletableFuture.runAsync(memory::figures).get(30, TimeUnit.SECONDS);
            }
        } catch (Exception failure) {
            throw new AssertionError(call, failure);
        }
    }
}
