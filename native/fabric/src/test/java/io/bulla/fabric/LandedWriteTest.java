// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fabric.LinkMessage.Kind;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Peer;
import io.bulla.refcount.LeaseTally;
import io.bulla.registration.Grant;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import io.bulla.registration.RemoteWriteTarget;
import io.bulla.registration.Revocation;
import io.bulla.testkit.needs.Piece;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Writes that tell their target themselves that they have landed; a bare domain beside a link.
class LandedWriteTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Peer LINK = new Peer(1, "link");
    private static final Peer BARE = new Peer(2, "bare");
    private static final Peer OTHER = new Peer(3, "other");
    private static final int MIB = 1 << 20;
    private static final int ROUNDS = 10;

    /// The bytes are looked at in the moment in which the write says that they are there.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void writeTellsWhenAllOfItIsThere(String provider) throws Exception {
        try (Scene scene = new Scene(provider)) {
            scene.connect();
            Random random = new Random(22);
            for (int i = 0; i < ROUNDS; i++) {
                byte[] bytes = new byte[1 + random.nextInt(3 * MIB)];
                random.nextBytes(bytes);
                try (RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, bytes.length);
                        SealedBuffer buffer = scene.buffer(bytes)) {
                    Grant grant = landing.grant(OTHER);
                    scene.linksDomain.expect(grant.key(), scene.watched());
                    FabricWrite write =
                            scene.bare.write(scene.toWatched, grant.key(), scene.target(grant), buffer, true);
                    assertTrue(write.tells());
                    assertEquals(grant.key(), scene.nextLanded(scene.linksDomain, scene.watched()));
                    assertInstanceOf(Revocation.Clean.class, grant.complete(PATIENCE));
                    try (SealedBuffer there = landing.seal()) {
                        assertArrayEquals(bytes, there.toByteArray(), "round " + i);
                    }
                    scene.until(write::isDone);
                    assertNull(scene.linksDomain.nextLanded(scene.watched()));
                }
            }
        }
    }

    /// No message has to follow.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void writeThatHasLandedEndsATransfer(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                SealedBuffer buffer = scene.buffer(new byte[100_000])) {
            scene.connect();
            scene.say(new LinkMessage(Kind.REQUEST, 1, 100_000, 0));
            LinkMessage clear = scene.heard();
            assertEquals(Kind.CLEAR, clear.kind());
            scene.bare.write(scene.to, clear.first(), clear.second(), buffer, true);
            scene.until(() -> scene.received.size() == 1);
            assertEquals(100_000, scene.received.getFirst());
            assertNull(scene.link.failure());
        }
    }

    /// A second word for it would be that of another transfer.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void linkSaysNothingBehindAWriteThatTells(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                SealedBuffer buffer = scene.buffer(new byte[100_000])) {
            scene.connect();
            try (RemoteWriteTarget landing = scene.clear(scene.link.send(buffer))) {
                scene.nextLanded(scene.baresDomain, scene.bare);
                assertEquals(1, landing.unfenced().size());
                scene.link.send(buffer);
                assertEquals(new LinkMessage(Kind.REQUEST, 2, 100_000, 0), scene.heard());
            }
        }
    }

    /// The pieces may have gone over two connections, of which the first was lost.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm"})
    void writeInPiecesTellsNothing(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                SealedBuffer piece = scene.buffer(new byte[1000]);
                SealedBuffer many = SealedBuffer.concat(
                        piece, piece, piece, piece, piece, piece, piece, piece, piece, piece, piece)) {
            scene.connect();
            LinkSend send = scene.link.send(many);
            try (RemoteWriteTarget landing = scene.clear(send)) {
                assertEquals(new LinkMessage(Kind.FINISHED, 1, 0, 0), scene.heard());
                assertNull(scene.baresDomain.nextLanded(scene.bare));
                assertTrue(send.isDone());
                assertEquals(1, landing.unfenced().size());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets"})
    void writeThatFailsTellsNothing(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                SealedBuffer buffer = scene.buffer(new byte[100_000])) {
            scene.connect();
            LinkSend send = scene.link.send(buffer);
            LinkMessage asked = scene.heard();
            try (RemoteWriteTarget landing = scene.baresRegistrations.remoteWriteTarget(scene.memory, asked.first())) {
                Grant grant = landing.grant(LINK);
                assertInstanceOf(Revocation.Clean.class, grant.complete(PATIENCE));
                scene.baresDomain.expect(grant.key(), scene.bare);
                scene.say(new LinkMessage(Kind.CLEAR, asked.id(), grant.key(), scene.target(grant)));
                scene.until(() -> scene.failure != null);
                assertTrue(send.isDone());
                assertThrows(FabricException.class, () -> send.await(PATIENCE));
                assertNull(scene.baresDomain.nextLanded(scene.bare));
            }
        }
    }

    /// As by a peer that writes again, or after its transfer was given up.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void writeThatIsNotExpectedIsNoTransfersEnd(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget other = scene.registrations.remoteWriteTarget(scene.memory, 1000);
                SealedBuffer buffer = scene.buffer(new byte[1000])) {
            scene.connect();
            scene.say(new LinkMessage(Kind.REQUEST, 1, 1000, 0));
            LinkMessage clear = scene.heard();
            Grant grant = other.grant(BARE);
            FabricWrite unasked = scene.bare.write(scene.to, grant.key(), scene.target(grant), buffer, true);
            scene.until(unasked::isDone);
            unasked.await(PATIENCE);
            assertEquals(List.of(), scene.received);
            assertNull(scene.link.failure());
            scene.bare.write(scene.to, clear.first(), clear.second(), buffer, true);
            scene.until(() -> scene.received.size() == 1);
            assertNull(scene.link.failure());
        }
    }

    /// A number is worth something from the peer that has the grant, and at its endpoint.
    @ParameterizedTest
    @ValueSource(strings = {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "shm"})
    void keyOfAnotherPeerTellsNothing(String provider) throws Exception {
        try (Scene scene = new Scene(provider);
                RemoteWriteTarget other = scene.registrations.remoteWriteTarget(scene.memory, 1000);
                RemoteWriteTarget landing = scene.registrations.remoteWriteTarget(scene.memory, 1000);
                SealedBuffer buffer = scene.buffer(new byte[1000])) {
            scene.connect();
            Grant expected = landing.grant(OTHER);
            scene.linksDomain.expect(expected.key(), scene.watched());
            Grant own = other.grant(BARE);
            // its own memory, with the other one's number
            FabricWrite lie = new FabricWrite(
                    scene.bare, scene.to, own.key(), scene.target(own), Gather.of(buffer, 1), true, expected.key());
            scene.baresDomain.begin(scene.bare, lie, 1);
            scene.until(lie::isDone);
            lie.await(PATIENCE);
            FabricWrite good = scene.bare.write(scene.toWatched, expected.key(), scene.target(expected), buffer, true);
            assertEquals(expected.key(), scene.nextLanded(scene.linksDomain, scene.watched()));
            scene.until(good::isDone);
            assertNull(scene.linksDomain.nextLanded(scene.watched()));
        }
    }

    /// A link, and what speaks to it from another domain of this process.
    private static final class Scene implements FabricLink.Listener, AutoCloseable {

        final FabricDomain linksDomain;
        final FabricDomain baresDomain;
        final SlabSource memory = SlabSource.builder().build();
        final Registrations registrations;
        final Registrations baresRegistrations;
        final FabricLink link;
        final FabricEndpoint bare;
        final List<Long> received = new ArrayList<>();
        private final LeaseTally handles = new LeaseTally();
        private final ArenaSource arenas = ArenaSource.create(MemoryBudget.unlimited(), handles);
        private final Arena arena = Arena.ofShared();
        private final MemorySegment room = arena.allocate(LinkMessage.BYTES, 8);
        private FabricReceive next;
        String failure;
        long to;
        long toWatched;

        Scene(String provider) throws Exception {
            Providers.need(provider);
            linksDomain = FabricDomain.open(provider);
            baresDomain = FabricDomain.open(provider);
            boolean numbers = linksDomain.carriesNumbers();
            if (!numbers) {
                linksDomain.close();
                baresDomain.close();
            }
            Piece.LIBFABRIC.orSkip(numbers ? null : "writes carry no numbers: provider=" + provider);
            registrations = Registrations.of(linksDomain, new PinBudget(1L << 40));
            baresRegistrations = Registrations.of(baresDomain, new PinBudget(1L << 40));
            link = FabricLink.open(linksDomain, registrations, memory, BARE, LinkLimits.USUAL, this);
            bare = baresDomain.endpoint(LINK);
            next = bare.receive(room);
        }

        void connect() throws FabricException {
            link.connect(bare.name());
            to = bare.connect(link.name());
            toWatched = bare.connect(watched().name());
        }

        /// One that the link does not look at.
        FabricEndpoint watched() throws FabricException {
            return linksDomain.endpoint(OTHER);
        }

        SealedBuffer buffer(byte[] bytes) {
            try (BufferBuilder builder = BufferBuilder.ofCapacity(arenas, bytes.length)) {
                return builder.put(bytes).seal();
            }
        }

        long target(Grant grant) {
            return linksDomain.provider().byAddress() ? grant.address() : 0;
        }

        void say(LinkMessage message) throws Exception {
            MemorySegment bytes = arena.allocate(LinkMessage.BYTES, 8);
            message.write(bytes);
            FabricSend send = bare.send(to, bytes);
            until(send::isDone);
        }

        LinkMessage heard() throws Exception {
            until(next::isDone);
            next.await(PATIENCE);
            LinkMessage message = LinkMessage.read(room, next.byteCount());
            next = bare.receive(room);
            assertNotNull(message);
            return message;
        }

        /// Clears what the link has asked for, and expects the write.
        RemoteWriteTarget clear(LinkSend of) throws Exception {
            LinkMessage asked = heard();
            assertEquals(Kind.REQUEST, asked.kind());
            assertFalse(of.isDone());
            RemoteWriteTarget landing = baresRegistrations.remoteWriteTarget(memory, asked.first());
            Grant grant = landing.grant(LINK);
            baresDomain.expect(grant.key(), bare);
            say(new LinkMessage(Kind.CLEAR, asked.id(), grant.key(), target(grant)));
            return landing;
        }

        long nextLanded(FabricDomain domain, FabricEndpoint at) {
            Long[] landed = new Long[1];
            until(() -> {
                landed[0] = landed[0] == null ? domain.nextLanded(at) : landed[0];
                return landed[0] != null;
            });
            return landed[0];
        }

        void until(BooleanSupplier condition) {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - end < 0, link::toString);
                try {
                    baresDomain.progress();
                } catch (FabricException refused) {
                    throw new AssertionError(refused);
                }
                link.progress();
            }
        }

        @Override
        public void onBufferMoved(SealedBuffer buffer) {
            try (buffer) {
                received.add(buffer.byteSize());
            }
        }

        @Override
        public void failed(Peer peer, String why, List<Revocation> revoked) {
            failure = why;
        }

        @Override
        public void close() {
            link.close();
            registrations.close();
            baresRegistrations.close();
            try {
                memory.close(PATIENCE);
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
            arena.close();
            assertEquals(0, handles.open());
        }
    }
}
