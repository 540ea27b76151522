// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bulla.buffer.MemorySource.Region;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricEndpoint;
import io.bulla.fabric.FabricWrite;
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
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// A process that writes once more by a key after its message was taken, while the next message is in the same
/// memory.
final class LateWrites {

    private static final int BYTES = 64 << 10;
    private static final long OLD_KEY = 7;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LATE = Duration.ofMillis(100);
    private static final Peer WRITER = new Peer(1, "writer");
    private static final Peer NEXT = new Peer(2, "next");
    private static final Peer READER = new Peer(3, "reader");

    private final String provider;
    private final Map<String, Integer> answers = new TreeMap<>();

    LateWrites(String provider) {
        this.provider = provider;
    }

    /// What the late writers were told, and how often: `error`, `none` in time, or `success`.
    Map<String, Integer> answers() {
        return answers;
    }

    /// The memory's next message is registered by the key of the one before.
    ///
    /// @return bytes of the late writers in the next messages
    long old(int rounds) throws Exception {
        long late = 0;
        for (int i = 0; i < rounds; i++) {
            try (SlabSource memory = SlabSource.create();
                    FabricDomain domain = FabricDomain.open(provider)) {
                byte[] name = domain.endpoint(WRITER).name();
                Region region = memory.allocate(BYTES);
                Slab slab = Objects.requireNonNull(Slab.of(region));
                MemorySegment bytes = region.segment();
                long offset = bytes.address() - slab.address();
                MemoryRegistration first = domain.register(slab, offset, BYTES, Access.REMOTE_WRITE, WRITER, OLD_KEY);
                try (OtherProcess writer = OtherProcess.start(domain, "late", name, OLD_KEY, bytes.address(), BYTES)) {
                    writer.line();
                    domain.retire(first, RetireReason.COMPLETE, () -> {});
                    bytes.fill((byte) 'n');
                    domain.register(slab, offset, BYTES, Access.REMOTE_WRITE, WRITER, OLD_KEY);
                    writer.goOn();
                    writer.line();
                    OtherProcess.progress(domain, LATE);
                }
                late += bytesOf('b', bytes);
                domain.close();
                region.release();
            }
        }
        return late;
    }

    /// The same with a grant for each message.
    ///
    /// @return bytes of the next messages that are not their writers'
    long ours(int rounds) throws Exception {
        long wrong = 0;
        for (int i = 0; i < rounds; i++) {
            try (SlabSource memory = SlabSource.create();
                    FabricDomain domain = FabricDomain.open(provider);
                    Registrations registrations = Registrations.of(domain, new PinBudget(Long.MAX_VALUE));
                    RemoteWriteTarget landing = registrations.remoteWriteTarget(memory, BYTES)) {
                Grant first = landing.grant(WRITER);
                byte[] name = domain.endpoint(WRITER).name();
                try (OtherProcess writer =
                        OtherProcess.start(domain, "late", name, first.key(), first.address(), BYTES)) {
                    writer.line();
                    require(first.complete(PATIENCE));
                    Grant next = landing.grant(NEXT);
                    writeNext(domain, next);
                    writer.goOn();
                    answers.merge(writer.line(), 1, Integer::sum);
                    OtherProcess.progress(domain, LATE);
                    require(next.complete(PATIENCE));
                }
                try (SealedBuffer message = landing.seal()) {
                    for (byte each : message.toByteArray()) {
                        wrong += each == 'm' ? 0 : 1;
                    }
                }
            }
        }
        return wrong;
    }

    private void writeNext(FabricDomain domain, Grant next) throws Exception {
        try (FabricDomain other = FabricDomain.open(provider);
                Arena arena = Arena.ofShared()) {
            FabricEndpoint from = other.endpoint(READER);
            long to = from.connect(domain.endpoint(NEXT).name());
            MemorySegment bytes = arena.allocate(BYTES, 64).fill((byte) 'm');
            FabricWrite write = from.write(to, next.key(), OtherProcess.target(domain, next.address()), bytes);
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!write.isDone() && System.nanoTime() - end < 0) {
                domain.progress();
                other.progress();
            }
            write.await(Duration.ZERO);
        }
    }

    private static void require(Revocation ended) {
        if (!(ended instanceof Revocation.Clean)) {
            throw new IllegalStateException("not clean: " + ended);
        }
    }

    private static long bytesOf(char value, MemorySegment bytes) {
        long count = 0;
        for (long i = 0; i < bytes.byteSize(); i++) {
            count += bytes.get(JAVA_BYTE, i) == value ? 1 : 0;
        }
        return count;
    }
}
