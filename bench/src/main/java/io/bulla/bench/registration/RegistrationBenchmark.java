// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.registration;

import io.bulla.bench.programs.SmallPages;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.registration.AtOnce;
import io.bulla.fabric.FabricDomain;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.registration.PinBudget;
import io.bulla.registration.RegistrationUse;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// A use of a registration that is there, in random order over slabs; and a grant of a mebibyte that is revoked.
///
/// One should see: `useThenEnd` below half of the C cache that searches by address; a grant within twice the bare
/// calls of libfabric. The first grant to a peer without a link opens a domain, and the revocation of its last one
/// closes it again: another hundred microseconds and more, which is not measured here.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class RegistrationBenchmark {

    private static final int ORDER = 1 << 16;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer PEER = new Peer(1, "peer");

    @Param("100")
    public int slabs;

    private final SlabSource memory = SlabSource.builder()
            .budget(MemoryBudget.unlimited())
            .supplier(new SmallPages())
            .idle(Duration.ofHours(1))
            .build();
    private Registrations registrations;
    private SealedBuffer[] buffers;
    private final int[] order = new int[ORDER];
    private FabricDomain domain;
    private Registrations remote;
    private RemoteWriteTarget landing;
    // of the same peer, so that its domain stays, as it does while it has a link
    private RemoteWriteTarget standing;

    /// Where a thread is in the order.
    @State(Scope.Thread)
    public static class Place {
        private int at;
    }

    @Setup(Level.Trial)
    public void open() throws Exception {
        registrations = Registrations.of(new AtOnce(), new PinBudget(Long.MAX_VALUE));
        buffers = new SealedBuffer[slabs];
        for (int i = 0; i < slabs; i++) {
            // a slab each
            try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, SlabSource.SLAB)) {
                buffers[i] = builder.putLong(i).seal();
            }
            Objects.requireNonNull(registrations.use(buffers[i], 0)).close();
        }
        Random random = new Random(1);
        for (int i = 0; i < ORDER; i++) {
            order[i] = random.nextInt(slabs);
        }
        if (registrations.figures().registered() != slabs) {
            throw new IllegalStateException("not a slab each: " + registrations);
        }
    }

    @TearDown(Level.Trial)
    public void close() throws Exception {
        registrations.close();
        for (SealedBuffer each : buffers) {
            each.close();
        }
        if (remote != null) {
            landing.close();
            standing.close();
            remote.close();
        }
        memory.close(PATIENCE);
    }

    @Benchmark
    public long useThenEnd(Place place) {
        try (RegistrationUse use = registrations.use(buffers[order[place.at++ & ORDER - 1]], 0)) {
            return use.key();
        }
    }

    @Benchmark
    public Revocation grantThenRevoke() throws Exception {
        if (remote == null) {
            domain = FabricDomain.open("tcp;ofi_rxm");
            remote = Registrations.of(domain, new PinBudget(Long.MAX_VALUE));
            landing = remote.remoteWriteTarget(memory, 1 << 20);
            standing = remote.remoteWriteTarget(memory, 1 << 20);
            standing.grant(PEER);
        }
        return landing.grant(PEER).revoke(PATIENCE);
    }
}
