// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static io.bulla.registration.Scene.ALICE;
import static io.bulla.registration.Scene.PATIENCE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pool.device.Fence;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.registration.Revocation.Clean;
import io.bulla.registration.Revocation.Quarantined;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The end of a grant, as another thread sees it that waits for it.
class GrantTest {

    /// Stands in the device's thread that says that the memory is free.
    private static final class Halting implements LeaseTrace {

        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch goesOn = new CountDownLatch(1);

        @Override
        public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
            return this;
        }

        @Override
        public void closed(Lease lease, Object traced) {
            reached.countDown();
            try {
                goesOn.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// The device has stopped, and its thread has not told the landing yet: a seal would be refused.
    @Test
    void cleanIsWhatItsLandingKnowsToo() throws Exception {
        Halting halting = new Halting();
        HostileRegistrar device = new HostileRegistrar(100, false, Fence.COMPLETION).freeing(Freeing.LATE);
        try (Scene scene = new Scene();
                Registrations registrations = Registrations.of(device, scene.pins, halting);
                RemoteWriteTarget landing = registrations.remoteWriteTarget(scene.memory, 1000)) {
            Grant grant = landing.grant(ALICE);
            assertInstanceOf(Quarantined.class, grant.complete(Duration.ZERO));
            Thread stopping = Thread.ofPlatform().start(device::freeLate);
            assertTrue(halting.reached.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            try {
                assertEquals(1, landing.unfenced().size());
                assertFalse(grant.isFenced());
                assertInstanceOf(Quarantined.class, grant.complete(Duration.ZERO));
            } finally {
                halting.goesOn.countDown();
            }
            assertEquals(new Clean(), grant.complete(PATIENCE));
            assertTrue(grant.isFenced());
            landing.seal().close();
            stopping.join();
        }
    }
}
