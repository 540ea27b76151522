// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.refcount.Lease;
import io.bulla.refcount.LeaseTrace;
import io.bulla.refcount.RefCount;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.Revocation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A listener of handles that throws or calls back in the middle of a rendezvous: each buffer arrives as it is, or
/// its sender hears that it does not.
class TraceThatThrowsTest {

    private static final String PROVIDER = "tcp;ofi_rxm";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer LEFT = new Peer(1, "left");
    private static final Peer RIGHT = new Peer(2, "right");
    private static final byte[] CONTENT = "all of it, and nothing else".getBytes();

    private final Throwing trace = new Throwing();
    private final Throwing quiet = new Throwing();

    @BeforeEach
    void needsTheProvider() {
        Providers.need(PROVIDER);
    }

    @Test
    void requestThatThrewIsRefused() throws Exception {
        try (Ends ends = new Ends(quiet, trace);
                SealedBuffer buffer = sealed(quiet)) {
            LinkSend send = ends.left.send(buffer);
            trace.armed = true;
            assertEquals("thrown by the test", ends.thrownBy(ends.right));
            ends.until(send::isDone);
            String why = assertThrows(FabricException.class, () -> send.await(PATIENCE))
                    .getMessage();
            assertTrue(why.contains("peer has no room"), why);
            // the next one arrives
            LinkSend next = ends.left.send(buffer);
            ends.until(() -> next.isDone() && ends.received.size() == 1);
            assertArrayEquals(CONTENT, ends.received.getFirst());
        }
    }

    @Test
    void bufferWhoseShareThrewIsWrittenAfterwards() throws Exception {
        try (Ends ends = new Ends(quiet, quiet);
                SealedBuffer buffer = sealed(trace)) {
            LinkSend send = ends.left.send(buffer);
            trace.armed = true;
            assertEquals("thrown by the test", ends.thrownBy(ends.left));
            ends.until(() -> send.isDone() && ends.received.size() == 1);
            assertArrayEquals(CONTENT, ends.received.getFirst());
            send.await(PATIENCE);
            assertNull(ends.left.failure());
        }
    }

    /// Its sender may have been told that it is there.
    @Test
    void linkFailsAtOnceWhenABufferCannotBeSealed() throws Exception {
        try (Ends ends = new Ends(trace, quiet);
                SealedBuffer buffer = sealed(quiet)) {
            ends.left.send(buffer);
            ends.until(() -> ends.registrations.figures().marks() > 0);
            trace.armed = true;
            assertEquals("thrown by the test", ends.thrownBy(ends.right));
            assertNotNull(ends.right.failure());
            assertEquals(1, ends.failures.size());
            assertEquals(List.of(), ends.received);
        }
    }

    /// From within the share of its own write.
    @Test
    void progressThatIsCalledBackWritesABufferOnce() throws Exception {
        AtomicInteger writes = new AtomicInteger();
        Libfabric.Seam.watch((name, call) -> {
            writes.addAndGet("fi_writemsg".equals(name) ? 1 : 0);
            return call.getAsLong();
        });
        try (Ends ends = new Ends(quiet, quiet);
                SealedBuffer buffer = sealed(trace)) {
            LinkSend send = ends.left.send(buffer);
            trace.then = ends.left::progress;
            trace.armed = true;
            ends.until(() -> send.isDone() && ends.received.size() == 1);
            send.await(PATIENCE);
            assertEquals(1, writes.get());
        } finally {
            Libfabric.Seam.watch(null);
        }
    }

    /// A send from within the share of another one.
    @Test
    void sendThatIsCalledBackIsOneOfItsOwn() throws Exception {
        try (Ends ends = new Ends(quiet, quiet);
                SealedBuffer first = sealed(trace);
                SealedBuffer second = sealed(quiet)) {
            List<LinkSend> sends = new ArrayList<>();
            trace.then = () -> {
                try {
                    sends.add(ends.left.send(second));
                } catch (FabricException refused) {
                    throw new AssertionError(refused);
                }
            };
            trace.armed = true;
            sends.add(ends.left.send(first));
            ends.until(() -> ends.received.size() == 2 || !ends.failures.isEmpty());
            assertEquals(List.of(), ends.failures);
            ends.until(() -> sends.stream().allMatch(LinkSend::isDone));
        }
    }

    /// From within the landing of a request, and from within the seal of what has landed.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void memoryOfALinkThatEndsMeanwhileComesBack(boolean atTheSeal) throws Exception {
        try (Ends ends = atTheSeal ? new Ends(trace, quiet) : new Ends(quiet, trace);
                SealedBuffer buffer = sealed(quiet)) {
            LinkSend send = ends.left.send(buffer);
            if (atTheSeal) {
                ends.until(() -> ends.registrations.figures().marks() > 0);
            }
            trace.then = ends.right::close;
            trace.armed = true;
            ends.until(() -> ends.right.failure() != null);
            assertEquals(List.of(), ends.received);
            assertEquals(List.of(), ends.registrations.held());
            ends.registrations.close();
            ends.memory.close(Duration.ofSeconds(10));
        }
    }

    private static SealedBuffer sealed(LeaseTrace of) {
        ArenaSource arena = ArenaSource.create(MemoryBudget.unlimited(), of);
        try (BufferBuilder builder = BufferBuilder.create(arena)) {
            return builder.put(CONTENT).seal();
        }
    }

    /// Throws or calls back at one handle that is opened.
    private static final class Throwing implements LeaseTrace {

        boolean armed;
        Runnable then = () -> {
            throw new IllegalStateException("thrown by the test");
        };

        @Override
        public Object opened(Lease lease, RefCount count, @Nullable Object tag) {
            if (armed) {
                armed = false;
                then.run();
            }
            return this;
        }

        @Override
        public void closed(Lease lease, Object traced) {}
    }

    /// Two ends in one domain.
    private static final class Ends implements FabricLink.Listener, AutoCloseable {

        final SlabSource memory;
        final Registrations registrations;
        final FabricLink left;
        final FabricLink right;
        final List<byte[]> received = new ArrayList<>();
        final List<String> failures = new ArrayList<>();

        /// @param ofMemory told of the handles on what arrives
        /// @param ofMarks told of what the device knows
        Ends(LeaseTrace ofMemory, LeaseTrace ofMarks) throws FabricException {
            FabricDomain domain = FabricDomain.open(PROVIDER);
            memory = SlabSource.builder().trace(ofMemory).build();
            registrations = Registrations.of(domain, new PinBudget(1L << 40), ofMarks);
            left = FabricLink.open(domain, registrations, memory, RIGHT, LinkLimits.USUAL, this);
            right = FabricLink.open(domain, registrations, memory, LEFT, LinkLimits.USUAL, this);
            left.connect(right.name());
            right.connect(left.name());
        }

        @Override
        public void onBufferMoved(SealedBuffer buffer) {
            try (buffer) {
                received.add(buffer.toByteArray());
            }
        }

        @Override
        public void failed(Peer peer, String why, List<Revocation> revoked) {
            failures.add(why);
        }

        void until(BooleanSupplier condition) {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - end < 0, () -> left + " " + right);
                left.progress();
                right.progress();
            }
        }

        /// What the end's progress throws; the other one goes on meanwhile.
        String thrownBy(FabricLink end) {
            long late = System.nanoTime() + PATIENCE.toNanos();
            while (true) {
                assertTrue(System.nanoTime() - late < 0, () -> "nothing is thrown: " + left + " " + right);
                (end == left ? right : left).progress();
                try {
                    end.progress();
                } catch (IllegalStateException thrown) {
                    return String.valueOf(thrown.getMessage());
                }
            }
        }

        @Override
        public void close() {
            left.close();
            right.close();
            registrations.close();
            memory.close();
        }
    }
}
