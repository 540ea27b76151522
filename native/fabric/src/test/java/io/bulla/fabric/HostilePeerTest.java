// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a peer reaches that writes by what it was not given: from another domain of this process.
class HostilePeerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer READER = new Peer(0, "reader");
    private static final Peer VICTIM = new Peer(1, "victim");
    private static final Peer ATTACKER = new Peer(2, "attacker");
    private static final int LARGE = 16 << 20;
    private static final int PAGE = 4096;

    /// Else its grant's revocation, which closes its own endpoint, would be no fence.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void keyIsNoKeyAtAnotherPeersEndpoint(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, LARGE)) {
            scene.domain.endpoint(VICTIM);
            Grant grant = landing.grant(VICTIM);
            MemorySegment memory = at(grant).fill((byte) 'n');
            FabricEndpoint from = scene.other.endpoint(READER);
            long toAttackers = from.connect(scene.domain.endpoint(ATTACKER).name());
            FabricWrite write = from.write(toAttackers, grant.key(), scene.target(grant, 0), scene.filled('d', LARGE));
            scene.progress(List.of(write), Duration.ofMillis(300));
            assertEquals(-1, memory.mismatch(scene.filled('n', LARGE)), "written through another peer's endpoint");
            assertEquals(new Revocation.Clean(), grant.revoke(PATIENCE));
            scene.progress(List.of(write), Duration.ofMillis(300));
            assertEquals(-1, memory.mismatch(scene.filled('n', LARGE)), "written after the revocation");
        }
    }

    /// Nothing is written, the process lives, and a good write goes on.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void hundredsOfWrongWritesReachNothing(String provider) throws Exception {
        Random random = new Random(23);
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 3 * PAGE)) {
            MemorySegment whole = null;
            for (int round = 0; round < 25; round++) {
                Peer peer = new Peer(10 + round, "hostile");
                // between two pages that are nobody's
                Grant grant = landing.grant(peer, PAGE, PAGE);
                whole = whole == null ? around(grant) : whole;
                whole.fill((byte) 'n');
                try (FabricEndpoint serving = scene.domain.endpoint(peer);
                        FabricEndpoint from = scene.other.endpoint(peer)) {
                    long to = from.connect(serving.name());
                    List<FabricWrite> wrong = new ArrayList<>();
                    for (int i = 0; i < 16; i++) {
                        wrong.add(scene.wrong(from, to, grant, random));
                    }
                    scene.progress(wrong, Duration.ofMillis(200));
                    assertEquals(-1, whole.mismatch(scene.filled('n', 3 * PAGE)), "round " + round);
                }
                assertEquals(new Revocation.Clean(), grant.revoke(PATIENCE));
            }
            Grant grant = landing.grant(VICTIM, PAGE, PAGE);
            FabricEndpoint from = scene.other.endpoint(READER);
            long to = from.connect(scene.domain.endpoint(VICTIM).name());
            FabricWrite good = from.write(to, grant.key(), scene.target(grant, 0), scene.filled('g', PAGE));
            scene.progress(List.of(good), PATIENCE);
            good.await(PATIENCE);
            assertEquals(-1, at(grant).mismatch(scene.filled('g', PAGE)));
            grant.complete(PATIENCE);
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(Grant grant) {
        return MemorySegment.ofAddress(grant.address()).reinterpret(grant.byteSize());
    }

    @SuppressWarnings("restricted")
    private static MemorySegment around(Grant grant) {
        return MemorySegment.ofAddress(grant.address() - PAGE).reinterpret(3 * PAGE);
    }

    private static final class Scene implements AutoCloseable {

        final SlabSource memory = SlabSource.create();
        final FabricDomain domain;
        final FabricDomain other;
        final Registrations registrations;
        private final Arena arena = Arena.ofShared();

        Scene(String provider) throws Exception {
            Providers.need(provider);
            domain = FabricDomain.open(provider);
            other = FabricDomain.open(provider);
            registrations = Registrations.of(domain, new PinBudget(1L << 40));
        }

        FabricWrite wrong(FabricEndpoint from, long to, Grant grant, Random random) throws FabricException {
            long key = grant.key();
            int size = List.of(1, 100, PAGE, PAGE + 1, 1 << 20).get(random.nextInt(5));
            return switch (random.nextInt(6)) {
                // a wrong key
                case 0 -> from.write(to, random.nextLong(), target(grant, 0), filled('w', size));
                case 1 -> from.write(to, key + 1, target(grant, 0), filled('w', size));
                // past the end
                case 2 -> from.write(to, key, target(grant, PAGE), filled('w', size));
                case 3 -> from.write(to, key, target(grant, PAGE - 1), filled('w', Math.max(2, size)));
                // before the start
                case 4 -> from.write(to, key, target(grant, -PAGE), filled('w', size));
                default -> from.write(to, key, random.nextLong() | 1L << 62, filled('w', size));
            };
        }

        long target(Grant grant, long offset) {
            return (domain.provider().byAddress() ? grant.address() : 0) + offset;
        }

        MemorySegment filled(char value, int size) {
            return arena.allocate(size, 64).fill((byte) value);
        }

        void progress(List<FabricWrite> until, Duration time) throws FabricException {
            long end = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - end < 0 && !until.stream().allMatch(FabricOperation::isDone)) {
                domain.progress();
                other.progress();
            }
        }

        @Override
        public void close() {
            registrations.close();
            other.close();
            arena.close();
            try {
                memory.close(PATIENCE);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
        }
    }
}
