// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.interop.fabric.FabricDomain;
import io.bulla.interop.fabric.FabricEndpoint;
import io.bulla.interop.fabric.FabricException;
import io.bulla.interop.fabric.FabricWrite;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.Ending;
import io.bulla.pool.device.Mark;
import io.bulla.pool.device.Peer;
import io.bulla.runtime.registration.Grant;
import io.bulla.runtime.registration.Landing;
import io.bulla.runtime.registration.PinBudget;
import io.bulla.runtime.registration.Registrations;
import io.bulla.runtime.registration.Revocation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/// Processes that are killed in the middle of a write, and the memory that they wrote to.
final class Kills {

    private static final int BYTES = 64 << 20;
    private static final long COMPUTES_MILLIS = 100;
    private static final Duration LATE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer READER = new Peer(1, "reader");
    private static final Peer THIRD = new Peer(2, "third");

    private final String provider;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment payload = arena.allocate(4096, 64);
    private final MemorySegment fresh = arena.allocate(BYTES, 64);
    private long[] millis = {};
    private long clean;
    private long thirdWrites;

    Kills(String provider) {
        this.provider = provider;
        payload.fill((byte) 't');
        fresh.fill((byte) 'n');
    }

    /// Milliseconds from the death of a process to its memory's next use.
    long[] millis() {
        return millis;
    }

    long clean() {
        return clean;
    }

    /// Writes of a third process's endpoint that succeeded, one after each kill.
    long thirdWrites() {
        return thirdWrites;
    }

    /// The registration is closed when the peer is dead, which says that it is done; then the memory is used again.
    ///
    /// @return bytes of dead processes in it
    long old(int kills) throws Exception {
        long dead = 0;
        for (int i = 0; i < kills; i++) {
            try (SlabSource memory = SlabSource.create();
                    FabricDomain domain = FabricDomain.open(provider)) {
                Peer peer = new Peer(100 + i, "writer");
                String name = HexFormat.of().formatHex(domain.endpoint(peer).name());
                Region region = memory.allocate(BYTES);
                Slab slab = Objects.requireNonNull(Slab.of(region));
                Mark mark = domain.register(slab, 0, BYTES, Access.REMOTE_WRITE, peer, i + 1);
                kill(domain, region.segment(), name, mark.key(), target(domain, slab.address()));
                domain.retire(mark, Ending.COMPLETE, () -> {});
                dead += reuse(domain, region.segment());
                domain.close();
                region.release();
            }
        }
        return dead;
    }

    /// The same with a grant that is revoked; the memory is used again when that is clean. A third endpoint writes on.
    long ours(int kills) throws Exception {
        long dead = 0;
        millis = new long[kills];
        try (SlabSource memory = SlabSource.create();
                FabricDomain domain = FabricDomain.open(provider);
                FabricDomain third = FabricDomain.open(provider);
                Registrations registrations = Registrations.of(domain, new PinBudget(Long.MAX_VALUE))) {
            FabricEndpoint thirdEnd = third.endpoint(READER);
            long reader = thirdEnd.connect(domain.endpoint(THIRD).name());
            Landing thirdsLanding = registrations.landing(memory, payload.byteSize());
            Grant thirds = thirdsLanding.grant(THIRD);
            for (int i = 0; i < kills; i++) {
                Peer peer = new Peer(100 + i, "writer");
                String name = HexFormat.of().formatHex(domain.endpoint(peer).name());
                Landing landing = registrations.landing(memory, BYTES);
                Grant grant = landing.grant(peer);
                MemorySegment bytes = at(grant);
                kill(domain, bytes, name, grant.key(), target(domain, grant.address()));
                long from = System.nanoTime();
                List<Revocation> revoked = registrations.revoke(peer, PATIENCE);
                millis[i] = (System.nanoTime() - from) / 1_000_000;
                clean += revoked.equals(List.of(new Revocation.Clean())) ? 1 : 0;
                dead += reuse(domain, bytes);
                landing.close();
                FabricWrite write = thirdEnd.write(reader, thirds.key(), target(domain, thirds.address()), payload);
                thirdWrites += succeeds(write, domain, third) ? 1 : 0;
            }
            thirds.revoke(PATIENCE);
            thirdsLanding.close();
        }
        Arrays.sort(millis);
        return dead;
    }

    private boolean succeeds(FabricWrite write, FabricDomain one, FabricDomain other) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!write.isDone() && System.nanoTime() - end < 0) {
            one.progress();
            other.progress();
        }
        try {
            write.await(Duration.ZERO);
            return true;
        } catch (FabricException failed) {
            return false;
        }
    }

    /// Starts a process, waits for its first byte, computes for a while, and kills it.
    private void kill(FabricDomain domain, MemorySegment bytes, String name, long key, long target)
            throws IOException, InterruptedException {
        bytes.set(JAVA_BYTE, 0, (byte) 0);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FabricPeer.class.getName(),
                        provider,
                        name,
                        Long.toString(key),
                        Long.toString(target),
                        Long.toString(BYTES))
                .inheritIO()
                .start();
        try {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (bytes.get(JAVA_BYTE, 0) != 'd') {
                domain.progress();
                if (System.nanoTime() - end > 0 || !process.isAlive()) {
                    throw new IllegalStateException("writer did not begin: alive=" + process.isAlive());
                }
            }
            // what it sends meanwhile waits in the system
            Thread.sleep(COMPUTES_MILLIS);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// Other data, and progress.
    ///
    /// @return bytes that are not this data
    private long reuse(FabricDomain domain, MemorySegment bytes) throws FabricException {
        MemorySegment all = bytes.asSlice(0, BYTES);
        all.copyFrom(fresh);
        long end = System.nanoTime() + LATE.toNanos();
        while (System.nanoTime() - end < 0) {
            domain.progress();
        }
        long others = 0;
        if (all.mismatch(fresh) >= 0) {
            for (long i = 0; i < BYTES; i++) {
                others += all.get(JAVA_BYTE, i) == 'n' ? 0 : 1;
            }
        }
        return others;
    }

    private static long target(FabricDomain domain, long address) {
        return domain.provider().byAddress() ? address : 0;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(Grant grant) {
        return MemorySegment.ofAddress(grant.address()).reinterpret(grant.byteSize());
    }
}
