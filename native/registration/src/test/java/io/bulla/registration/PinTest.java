// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.NONE;
import static io.bulla.registration.Scene.PATIENCE;
import static io.bulla.registration.Scene.SLAB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseLedger;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A ledger that lists handles lists what devices know, too.
class PinTest {

    private final LeaseLedger ledger = LeaseLedger.full();
    private final SlabSource memory = SlabSource.builder().trace(ledger).build();
    private final HostileRegistrar device = new HostileRegistrar(100, true, Fence.COMPLETION);
    private Registrations registrations = Registrations.of(device, new PinBudget(64 * SLAB), ledger);

    @AfterEach
    void close() throws Exception {
        registrations.close();
        assertEquals(List.of(), ledger.open());
        memory.close(PATIENCE);
    }

    private List<String> pins() {
        return ledger.open().stream()
                .filter(holder -> String.valueOf(holder.tag()).startsWith("pin of "))
                .map(holder -> String.valueOf(holder.tag()).replaceAll("slab=[0-9]+ ", "") + " " + holder.size())
                .toList();
    }

    @Test
    void ledgerSaysWhoPinsWhatForWhichPeer() throws Exception {
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer message = builder.putInt(1).seal()) {
            RegistrationUse use = registrations.use(message, 0);
            assertNotNull(use);
            use.close();
            RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000);
            Grant grant = landing.grant(ALICE);
            assertEquals(
                    List.of(
                            "pin of hostile access=LOCAL peer=- " + SLAB,
                            "pin of hostile access=REMOTE_WRITE peer=alice#1 1000"),
                    pins());
            assertTrue(ledger.open().stream().allMatch(holder -> !holder.age().isNegative()));
            grant.complete(PATIENCE);
            assertEquals(List.of("pin of hostile access=LOCAL peer=- " + SLAB), pins());
            landing.close();
        }
    }

    @Test
    void pinLastsUntilTheDeviceHasLetGo() throws Exception {
        device.freeing(Freeing.LATE);
        try (RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000)) {
            Grant grant = landing.grant(ALICE);
            assertInstanceOf(Revocation.Quarantined.class, grant.revoke(NONE));
            assertEquals(List.of("pin of hostile access=REMOTE_WRITE peer=alice#1 1000"), pins());
            device.freeLate();
            assertEquals(List.of(), pins());
        }
    }

    @Test
    void refusedMarkIsNoPin() {
        device.refuse(1);
        try (RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000)) {
            assertThrows(RegistrationRefusedException.class, () -> landing.grant(ALICE));
            assertEquals(List.of(), pins());
        }
    }

    /// The device is not asked, and nothing stays.
    @Test
    void traceThatFailsCostsTheGrantAlone() {
        registrations.close();
        HostileRegistrar other = new HostileRegistrar(100, true, Fence.COMPLETION);
        registrations = Registrations.of(other, new PinBudget(64 * SLAB), new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
                throw new IllegalStateException("ledger is full");
            }

            @Override
            public void closed(Lease lease, Object traced) {}
        });
        try (RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000)) {
            assertThrows(IllegalStateException.class, () -> landing.grant(ALICE));
            assertEquals(0, registrations.figures().marks());
            assertEquals(0, other.calls());
            assertEquals(List.of(), landing.unfenced());
        }
    }

    /// The memory is the program's again all the same.
    @Test
    void traceThatFailsAtTheEndIsASurprise() throws Exception {
        registrations.close();
        HostileRegistrar other = new HostileRegistrar(100, true, Fence.COMPLETION);
        registrations = Registrations.of(other, new PinBudget(64 * SLAB), new LeaseTrace() {
            @Override
            public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
                return this;
            }

            @Override
            public void closed(Lease lease, Object traced) {
                throw new IllegalStateException("ledger is gone");
            }
        });
        try (RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000)) {
            assertInstanceOf(Revocation.Clean.class, landing.grant(ALICE).complete(PATIENCE));
            assertEquals(1, registrations.figures().surprises());
            assertEquals(0, registrations.figures().marks());
            assertEquals(List.of(), landing.unfenced());
        }
    }
}
