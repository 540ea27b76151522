// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricException;
import io.bulla.pool.Slab;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Access;
import io.bulla.pool.device.MemoryRegistration;
import io.bulla.pool.device.Peer;
import io.bulla.pool.device.RetireReason;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// Processes that are killed in the middle of a write, and the memory that they wrote to.
public final class Kills {

    private static final int BYTES = 64 << 20;
    private static final long THIRDS_BYTES = 4096;
    private static final long COMPUTES_MILLIS = 100;
    private static final int TOLD = 10;
    private static final Duration LATE = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer THIRD = new Peer(2, "third");

    private final String provider;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment fresh = arena.allocate(BYTES, 64);
    private long[] millis = {};
    private long clean;
    private String thirdSaid = "-";

    /// Prepares kills over a provider of libfabric.
    ///
    /// @param provider by its name
    public Kills(String provider) {
        this.provider = provider;
        fresh.fill((byte) 'n');
    }

    /// Milliseconds from the death of each process to its memory's next use.
    ///
    /// @return the shortest first
    public long[] millis() {
        return millis;
    }

    /// Counts the revocations that were clean.
    ///
    /// @return their number
    public long clean() {
        return clean;
    }

    /// Tells the writes of the third process: how many there were, and how many failed.
    ///
    /// @return its line
    public String thirdSaid() {
        return thirdSaid;
    }

    /// Tells whether every write of the third process succeeded.
    ///
    /// @return true if none failed
    public boolean isThirdWell() {
        return thirdSaid.endsWith(" failed=0");
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
                byte[] name = domain.endpoint(peer).name();
                Region region = memory.allocate(BYTES);
                Slab slab = Objects.requireNonNull(Slab.of(region));
                MemoryRegistration mark = domain.register(slab, 0, BYTES, Access.REMOTE_WRITE, peer, i + 1);
                kill(start(domain, region.segment(), name, mark.key()), region.segment());
                domain.retire(mark, RetireReason.COMPLETE, () -> {});
                dead += reuse(domain, region.segment());
                domain.close();
                region.release();
            }
        }
        return dead;
    }

    /// Kills processes in the middle of a write to a grant, revokes it, and uses the memory again once that is clean.
    /// A third process writes all the time.
    ///
    /// @param kills how many
    /// @param ahead whether the next writer starts while the one before is killed: that is most of a writer's time,
    ///     and takes a processor from who waits for the memory
    /// @return bytes of dead processes in memory that is used again
    /// @throws Exception if a process or the provider does not work
    public long ours(int kills, boolean ahead) throws Exception {
        long dead = 0;
        millis = new long[kills];
        try (SlabSource memory = SlabSource.create();
                FabricDomain domain = FabricDomain.open(provider);
                Registrations registrations = Registrations.of(domain, new PinBudget(Long.MAX_VALUE));
                RemoteWriteTarget thirdsLanding = registrations.remoteWriteTarget(memory, THIRDS_BYTES)) {
            Grant thirds = thirdsLanding.grant(THIRD);
            MemorySegment counted = at(thirds);
            counted.fill((byte) 0);
            byte[] thirdsName = domain.endpoint(THIRD).name();
            try (OtherProcess third =
                    OtherProcess.start(domain, "counting", thirdsName, thirds.key(), thirds.address(), THIRDS_BYTES)) {
                third.await("its first number", () -> counted.get(JAVA_LONG, 0) > 0);
                dead += killEach(kills, ahead, domain, registrations, memory, () -> {
                    long before = counted.get(JAVA_LONG, 0);
                    third.await("a number after a kill", () -> counted.get(JAVA_LONG, 0) > before);
                });
                third.goOn();
                thirdSaid = third.line();
            }
            thirds.revoke(PATIENCE);
        }
        Arrays.sort(millis);
        return dead;
    }

    private long killEach(
            int kills,
            boolean ahead,
            FabricDomain domain,
            Registrations registrations,
            SlabSource memory,
            Then afterEach)
            throws Exception {
        long from = System.nanoTime();
        long dead = 0;
        Writer next = null;
        try {
            for (int i = 0; i < kills; i++) {
                Writer writer = next == null ? Writer.start(domain, registrations, memory, i) : next;
                next = null;
                try (writer) {
                    next = ahead && i + 1 < kills ? Writer.start(domain, registrations, memory, i + 1) : null;
                    dead += killAndRevoke(domain, registrations, writer, i);
                }
                afterEach.run();
                if ((i + 1) % TOLD == 0) {
                    System.out.println("kills so far: provider=" + provider + " ours=" + (i + 1) + " clean=" + clean
                            + " dead-bytes=" + dead + " seconds=" + (System.nanoTime() - from) / 1_000_000_000);
                }
            }
        } finally {
            if (next != null) {
                next.close();
            }
        }
        return dead;
    }

    private interface Then {
        void run() throws IOException;
    }

    /// A process that waits to be told to write, and where it writes to.
    private record Writer(RemoteWriteTarget landing, Grant grant, OtherProcess process) implements AutoCloseable {

        static Writer start(FabricDomain domain, Registrations registrations, SlabSource memory, int i)
                throws Exception {
            RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, BYTES);
            Peer peer = new Peer(100 + i, "writer");
            Grant grant = landing.grant(peer);
            return new Writer(
                    landing,
                    grant,
                    Kills.start(domain, at(grant), domain.endpoint(peer).name(), grant.key()));
        }

        @Override
        public void close() throws InterruptedException {
            process.close();
            landing.close();
        }
    }

    private long killAndRevoke(FabricDomain domain, Registrations registrations, Writer writer, int i)
            throws Exception {
        MemorySegment bytes = at(writer.grant);
        kill(writer.process, bytes);
        long from = System.nanoTime();
        List<Revocation> revoked = registrations.revoke(writer.grant.peer(), PATIENCE);
        millis[i] = (System.nanoTime() - from) / 1_000_000;
        clean += revoked.equals(List.of(new Revocation.Clean())) ? 1 : 0;
        return reuse(domain, bytes);
    }

    private static OtherProcess start(FabricDomain domain, MemorySegment bytes, byte[] name, long key)
            throws IOException {
        bytes.set(JAVA_BYTE, 0, (byte) 0);
        return OtherProcess.start(domain, "once", name, key, bytes.address(), BYTES);
    }

    /// Tells a process to write, waits for its first byte, computes for a while, and kills it.
    private static void kill(OtherProcess process, MemorySegment bytes) throws IOException, InterruptedException {
        try (OtherProcess writer = process) {
            writer.goOn();
            writer.await("its first byte", () -> bytes.get(JAVA_BYTE, 0) == 'd');
            // what it sends meanwhile waits in the system
            Thread.sleep(COMPUTES_MILLIS);
        }
    }

    /// Other data, and progress.
    ///
    /// @return bytes that are not this data
    private long reuse(FabricDomain domain, MemorySegment bytes) throws FabricException {
        MemorySegment all = bytes.asSlice(0, BYTES);
        all.copyFrom(fresh);
        OtherProcess.progress(domain, LATE);
        long others = 0;
        if (all.mismatch(fresh) >= 0) {
            for (long i = 0; i < BYTES; i++) {
                others += all.get(JAVA_BYTE, i) == 'n' ? 0 : 1;
            }
        }
        return others;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(Grant grant) {
        return MemorySegment.ofAddress(grant.address()).reinterpret(grant.byteSize());
    }
}
