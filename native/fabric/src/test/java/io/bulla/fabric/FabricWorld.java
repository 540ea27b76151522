// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A domain whose two endpoints are each other's peers, a pool and registrations; all of it is given back by the
/// scene.
final class FabricWorld {

    static final String PROVIDER = "tcp;ofi_rxm";
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final Peer WRITER = new Peer(1, "writer");
    static final Peer READER = new Peer(2, "reader");
    static final int BYTES = 300;
    // no message of the scene's is longer
    private static final int ROOM = 8192;

    final FaultScene scene;
    final FabricDomain domain;
    final SlabSource pool;
    final Registrations registrations;
    private @Nullable FabricEndpoint writer;
    private @Nullable FabricEndpoint reader;
    private long to;
    private @Nullable RemoteWriteTarget landing;
    private @Nullable Grant grant;
    // what goes to an endpoint that has ended, by a revocation too, may stay on its way
    private boolean ended;

    FabricWorld(FaultScene scene) {
        this.scene = scene;
        scene.mayTake(16 << 20);
        MemoryBudget budget = new MemoryBudget(64 << 20);
        PinBudget pins = new PinBudget(64 << 20);
        domain = made(() -> FabricDomain.open(PROVIDER));
        pool = SlabSource.builder()
                .budget(budget)
                .idle(Duration.ofHours(1))
                .trace(scene.trace())
                .build();
        registrations = Registrations.of(domain, pins, scene.trace());
        scene.ownLast(() -> {
            registrations.close();
            pool.close(PATIENCE);
        });
        scene.owed("bytes booked by the pool", budget::used);
        scene.owed("bytes pinned", pins::used);
        scene.callBack("domain.progress", FailingFabric.back(domain::progress));
        ending("registrations.close", registrations::close);
        scene.callBack("registrations.trim", registrations::trim);
        ending("registrations.revoke", () -> registrations.revoke(READER, Duration.ZERO));
        scene.callBack("pool.trim", pool::trim);
    }

    /// With both endpoints.
    FabricWorld connected() {
        FabricEndpoint from = made(() -> domain.endpoint(WRITER));
        FabricEndpoint at = made(() -> domain.endpoint(READER));
        writer = from;
        reader = at;
        to = made(() -> from.connect(at.name()));
        // not under a link, whose domain is open as long as it is
        ending("domain.close", domain::close);
        ending("writer.close", from::close);
        ending("reader.close", at::close);
        scene.callBack("writer.send", FailingFabric.back(() -> {
            try (SealedBuffer other = pooled(64)) {
                from.send(to, other);
            }
        }));
        return this;
    }

    private void ending(String name, Runnable close) {
        scene.callBack(name, () -> {
            ended = true;
            close.run();
        });
    }

    FabricEndpoint writer() {
        FabricEndpoint from = writer;
        if (from == null) {
            throw new IllegalStateException("not connected");
        }
        return from;
    }

    FabricEndpoint reader() {
        FabricEndpoint at = reader;
        if (at == null) {
            throw new IllegalStateException("not connected");
        }
        return at;
    }

    /// What the writer calls the reader by.
    long to() {
        return to;
    }

    Grant grant() {
        Grant known = grant;
        if (known == null) {
            RemoteWriteTarget target = registrations.remoteWriteTarget(pool, ROOM);
            landing = scene.own(target);
            known = made(() -> target.grant(READER));
            grant = known;
        }
        return known;
    }

    /// What a write names the place by.
    long target() {
        return domain.provider().byAddress() ? grant().address() : 0;
    }

    FabricReceive receiving() {
        // the operation keeps it
        MemorySegment room = Arena.ofAuto().allocate(ROOM, 8);
        return made(() -> reader().receive(room));
    }

    FabricWrite writing(SealedBuffer buffer) {
        return made(() -> writer().write(to, grant().key(), target(), buffer));
    }

    FabricSend sending(SealedBuffer buffer) {
        receiving();
        return made(() -> writer().send(to, buffer));
    }

    /// Of the pool, so that a device may know it.
    SealedBuffer pooled(int bytes) {
        try (BufferBuilder builder = BufferBuilder.create(pool)) {
            return builder.put(FaultScene.bytes(bytes, 2)).seal();
        }
    }

    /// Lets the fabric work until something is so. What it refuses meanwhile is what the scene looks at.
    void until(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("waits in vain: " + domain);
            }
            made(domain::progress);
        }
    }

    /// An operation ends, well or not, as long as its domain and both endpoints are open.
    void awaitEnd(Object operation) {
        until(() -> ended || ((FabricOperation) operation).isDone());
    }

    static <T> T made(Callable<T> one) {
        try {
            return one.call();
        } catch (Exception failure) {
            throw new IllegalStateException("cannot be made ready", failure);
        }
    }

    /// Takes what a link says.
    static final class Hears implements FabricLink.Listener {

        private final FaultScene scene;
        // in the order of their requests
        final List<byte[]> expected = new ArrayList<>();
        int received;
        int failed;
        int wrong;

        Hears(FaultScene scene) {
            this.scene = scene;
        }

        @Override
        public void onBufferMoved(SealedBuffer buffer) {
            try (buffer) {
                received++;
                byte[] content = buffer.toByteArray();
                wrong += expected.stream().anyMatch(each -> Arrays.equals(each, content)) ? 0 : 1;
                scene.points().reach("Listener.received");
            }
        }

        @Override
        public void failed(Peer peer, String why, List<Revocation> revoked) {
            failed++;
            scene.points().reach("Listener.failed");
        }
    }
}
