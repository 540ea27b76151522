// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Fence;
import io.bulla.pool.device.Peer;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import io.bulla.runtime.oob.bulk.BulkTransport;
import io.bulla.testkit.HostileRegistrar;
import io.bulla.testkit.HostileRegistrar.Freeing;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// Two nodes over a device that may break its word. What its peers write goes to the address of the
/// landing.
final class HostilePair extends FabricBulkTest.Scene {

    private final String how;
    private final HostileRegistrar registrar = new HostileRegistrar(1000, true, Fence.NONE);
    private final SlabSource pool = SlabSource.create();
    private final Registrations registrations = Registrations.of(registrar, new PinBudget(1L << 40));
    private final AtomicInteger written = new AtomicInteger();
    private final AtomicLong peers = new AtomicLong();

    HostilePair(String how) throws IOException {
        this.how = how;
        for (Freeing freeing : Freeing.values()) {
            if (freeing.name().equals(how)) {
                registrar.freeing(freeing);
            }
        }
        if (how.equals("REFUSES")) {
            registrar.refuse(1);
        } else if (how.equals("SAME_KEY")) {
            registrar.sameKey();
        }
        Device device = new Device();
        start(device, () -> registrations.figures().marks());
        start(device, () -> registrations.figures().marks());
    }

    Send send(byte... bytes) {
        return send(0, bytes);
    }

    byte[] next() throws InterruptedException {
        return next(1);
    }

    void check() {
        assertEquals(List.of(), registrar.complaints());
        long marks = registrations.figures().marks();
        switch (how) {
            case "AT_ONCE" -> {
                assertEquals(6, written.get());
                assertEquals(0, marks);
            }
            case "TWICE" -> {
                assertEquals(6, written.get());
                assertTrue(registrations.figures().surprises() > 0);
            }
            case "REFUSES" -> assertEquals(5, written.get());
            case "LATE", "NEVER", "THROWS" -> {
                // the first one is not let go of: its memory stays out, and its bytes came by the connection
                assertTrue(marks > 0, "marks=" + marks);
                assertTrue(registrations.held().getFirst().peer().contains("rank"), () -> "" + registrations.held());
            }
            default -> assertTrue(written.get() >= 0);
        }
    }

    @Override
    public void close() {
        super.close();
        registrar.freeing(Freeing.AT_ONCE);
        registrar.freeLate();
        registrations.close();
        assertEquals(0, registrations.figures().marks());
        close(pool);
    }

    private final class Device implements BulkTransport {

        @Override
        public BulkLine open(String peer, Consumer<? super IOException> failed) {
            return new Line(new Peer(peers.incrementAndGet(), peer));
        }

        @Override
        public void close() {}
    }

    private final class Line implements BulkLine {

        private final Peer peer;
        private final Set<GrantedLanding> landings = new HashSet<>();

        Line(Peer peer) {
            this.peer = peer;
        }

        @Override
        public byte[] address() {
            return new byte[] {1};
        }

        @Override
        public void connect(byte[] peersAddress) {
            assertTrue(Arrays.equals(address(), peersAddress));
        }

        @Override
        public boolean takes(SealedBuffer buffer) {
            return true;
        }

        @Override
        public BulkLanding land(long byteSize) throws IOException {
            GrantedLanding granted = GrantedLanding.take(
                    registrations, pool, peer, byteSize, true, (landing, bytes) -> landings.remove(landing));
            landings.add(granted);
            return granted;
        }

        @Override
        @SuppressWarnings("restricted")
        public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) {
            MemorySegment memory = MemorySegment.ofAddress(target).reinterpret(buffer.byteSize());
            buffer.iovec().copyTo(0, memory, buffer.byteSize());
            written.incrementAndGet();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void close() {
            registrations.revoke(peer, Duration.ZERO);
            List.copyOf(landings).forEach(GrantedLanding::close);
        }
    }
}
