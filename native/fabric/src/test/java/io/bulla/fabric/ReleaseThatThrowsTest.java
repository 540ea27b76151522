// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Memory of the user's, whose release throws or calls back while operations end: all of them end.
class ReleaseThatThrowsTest {

    private static final String PROVIDER = "tcp;ofi_rxm";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer READER = new Peer(1, "reader");
    private static final Peer WRITER = new Peer(2, "writer");
    private static final int MANY = 10;

    private final AtomicInteger released = new AtomicInteger();

    private SealedBuffer adopted(Arena arena, Runnable first) {
        return SealedBuffer.adopt(arena.allocate(64, 8), () -> {
            released.incrementAndGet();
            first.run();
            throw new IllegalStateException("thrown by the test");
        });
    }

    private List<FabricSend> sends(Arena arena, FabricEndpoint from, long to, Runnable first) throws Exception {
        List<FabricSend> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            SealedBuffer message = adopted(arena, first);
            all.add(from.send(to, message));
            // the fabric holds it
            message.close();
        }
        return all;
    }

    /// To a peer that never answers.
    private List<FabricSend> neverSent(Arena arena, FabricDomain domain, Runnable first) throws Exception {
        byte[] gone;
        try (FabricDomain over = FabricDomain.open(PROVIDER)) {
            gone = over.endpoint(WRITER).name();
        }
        FabricEndpoint from = domain.endpoint(READER);
        return sends(arena, from, from.connect(gone), first);
    }

    @Test
    void endOfAnEndpointEndsAllItsOperations() throws Exception {
        Providers.need(PROVIDER);
        try (Arena arena = Arena.ofShared();
                FabricDomain domain = FabricDomain.open(PROVIDER)) {
            List<FabricSend> never = neverSent(arena, domain, () -> {});
            assertThrows(
                    IllegalStateException.class, () -> domain.endpoint(READER).close());
            assertEquals(MANY, released.get());
            assertTrue(never.stream().allMatch(FabricOperation::isDone));
            domain.endpoint(READER).close();
        }
    }

    @Test
    void domainIsClosedWhateverTheReleasesThrow() throws Exception {
        Providers.need(PROVIDER);
        try (Arena arena = Arena.ofShared()) {
            FabricDomain domain = FabricDomain.open(PROVIDER);
            // each closes it, too
            List<FabricSend> never = neverSent(arena, domain, domain::close);
            assertThrows(IllegalStateException.class, domain::close);
            assertEquals(MANY, released.get());
            assertTrue(never.stream().allMatch(FabricOperation::isDone));
            FabricException over = assertThrows(FabricException.class, () -> domain.endpoint(READER));
            assertTrue(over.getMessage().contains("domain is closed"), over::getMessage);
            domain.close();
        }
    }

    /// What the fabric said in one look is taken up whole.
    @Test
    void allCompletionsOfALookAreTakenUp() throws Exception {
        Providers.need(PROVIDER);
        try (Arena arena = Arena.ofShared();
                FabricDomain reader = FabricDomain.open(PROVIDER);
                FabricDomain writer = FabricDomain.open(PROVIDER)) {
            FabricEndpoint serving = reader.endpoint(WRITER);
            for (int i = 0; i < MANY; i++) {
                serving.receive(arena.allocate(64, 8));
            }
            FabricEndpoint from = writer.endpoint(READER);
            List<FabricSend> sends = sends(arena, from, from.connect(serving.name()), () -> {
                try {
                    // another look within this one
                    assertTrue(writer.progress() >= 0);
                } catch (FabricException refused) {
                    throw new AssertionError(refused);
                }
            });
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!sends.stream().allMatch(FabricOperation::isDone)) {
                assertTrue(System.nanoTime() - end < 0, () -> "operations without an end: " + sends);
                reader.progress();
                try {
                    writer.progress();
                } catch (IllegalStateException thrown) {
                    assertEquals("thrown by the test", thrown.getMessage());
                }
            }
            assertEquals(MANY, released.get());
        }
    }

    /// The fence was there: the memory is the program's, whatever another one's release throws.
    @Test
    void revokedMemoryIsFreeWhateverTheReleasesThrow() throws Exception {
        Providers.need(PROVIDER);
        try (Arena arena = Arena.ofShared();
                SlabSource memory = SlabSource.create()) {
            FabricDomain domain = FabricDomain.open(PROVIDER);
            try (Registrations registrations = Registrations.of(domain, new PinBudget(1L << 40));
                    RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, 1000)) {
                List<FabricSend> never = neverSent(arena, domain, () -> {});
                Grant grant = landing.grant(READER);
                assertInstanceOf(Revocation.Clean.class, grant.revoke(Duration.ZERO));
                assertEquals(MANY, released.get());
                assertFalse(never.stream().anyMatch(each -> !each.isDone()));
                landing.seal().close();
            }
        }
    }
}
