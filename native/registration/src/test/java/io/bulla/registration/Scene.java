// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Peer;
import io.bulla.testkit.HostileRegistrar;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// A pool, a device and its registrations; all of it is given back at the end.
final class Scene implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final Duration NONE = Duration.ZERO;
    static final long SLAB = SlabSource.SLAB;
    static final Peer ALICE = new Peer(1, "alice");
    static final Peer BOB = new Peer(2, "bob");

    final MemoryBudget budget = new MemoryBudget(16 * SLAB);
    final SlabSource memory =
            SlabSource.builder().budget(budget).idle(Duration.ofHours(1)).build();
    final PinBudget pins;
    final HostileRegistrar device;
    final Registrations registrations;

    Scene() {
        this(100, 64 * SLAB);
    }

    Scene(long mostMarks, long pinned) {
        pins = new PinBudget(pinned);
        device = new HostileRegistrar(mostMarks, true, Fence.COMPLETION);
        registrations = Registrations.of(device, pins);
    }

    SealedBuffer buffer(int value, long byteSize) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, byteSize)) {
            builder.putInt(value).put(new byte[(int) byteSize - Integer.BYTES]);
            return builder.seal();
        }
    }

    /// As a device writes: to an address, with no handle.
    @SuppressWarnings("restricted")
    static void write(Grant grant, byte value) {
        MemorySegment.ofAddress(grant.address()).reinterpret(grant.byteSize()).fill(value);
    }

    @Override
    public void close() {
        registrations.close();
        try {
            memory.close(PATIENCE);
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
        if (budget.used() != 0 || pins.used() != 0 || !device.complaints().isEmpty()) {
            throw new AssertionError(budget + " " + pins + " " + device.complaints());
        }
    }
}
