// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static io.bulla.posix.fixtures.SendFixture.MIB;
import static io.bulla.posix.fixtures.SendFixture.random;
import static io.bulla.posix.fixtures.SendFixture.receive;
import static io.bulla.posix.fixtures.SendFixture.receiveBeside;
import static io.bulla.posix.fixtures.SendFixture.tcpPair;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Capabilities;
import io.bulla.posix.fixtures.Descriptors;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OutboxTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration A_MOMENT = Duration.ofMillis(300);

    private SendFixture fixture;
    private Outbox outbox;

    @BeforeEach
    void open() throws IOException {
        fixture = new SendFixture();
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        outbox.close();
        outbox.close();
        fixture.close();
    }

    private void open(SendPath path) {
        outbox = Outbox.open(path);
        Piece.IO_URING.orSkip(outbox.path() == path ? null : "path=" + outbox.path() + " wanted=" + path);
    }

    private SocketSend sentToAStuckPeer(byte[] bytes) throws PosixException {
        open(SendPath.URING_ZC);
        SealedBuffer buffer = fixture.buffer(bytes);
        SealedBuffer given = buffer.share();
        SocketSend send = outbox.moveAndSend(fixture.sender, given);
        buffer.close();
        // the sender's own handle is another one
        given.close();
        for (long end = System.nanoTime() + SOON.toNanos(); !send.isEnded() && System.nanoTime() - end < 0; ) {
            assertFalse(outbox.finish(A_MOMENT));
        }
        assertFalse(outbox.finish(A_MOMENT));
        assertEquals(SendPath.URING_ZC, send.path());
        assertTrue(send.isEnded());
        assertNull(send.failure());
        assertFalse(send.isDone());
        assertEquals(1, fixture.handles.open());
        return send;
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void bytesArriveInOrderOverManySockets(SendPath path) throws Exception {
        open(path);
        int peers = 6;
        byte[] bytes = random(3 * MIB + 1);
        SealedBuffer buffer = fixture.buffer(bytes);
        List<PosixSocket[]> pairs = new ArrayList<>();
        List<CompletableFuture<byte[]>> received = new ArrayList<>();
        List<SocketSend> sends = new ArrayList<>();
        for (int i = 0; i < peers; i++) {
            PosixSocket[] pair = i % 2 == 0 ? tcpPair() : PosixSocket.unixPair();
            pair[0].setSendBuffer(32 << 10);
            pair[0].setBlocking(i % 3 != 0);
            pairs.add(pair);
            received.add(receiveBeside(pair[1], 2 * bytes.length + 5));
            sends.add(outbox.shareAndSend(pair[0], buffer));
            sends.add(outbox.moveAndSend(pair[0], fixture.buffer(new byte[] {1, 2, 3, 4, 5})));
            sends.add(outbox.moveAndSend(pair[0], fixture.buffer(new byte[0])));
            sends.add(outbox.moveAndSend(pair[0], SealedBuffer.concat(buffer)));
        }
        buffer.close();
        assertTrue(outbox.finish(SOON));
        for (int i = 0; i < peers; i++) {
            byte[] all = received.get(i).get(30, TimeUnit.SECONDS);
            MemorySegment got = MemorySegment.ofArray(all);
            MemorySegment want = MemorySegment.ofArray(bytes);
            assertEquals(-1, got.asSlice(0, bytes.length).mismatch(want));
            assertEquals(5, all[bytes.length + 4]);
            assertEquals(-1, got.asSlice(bytes.length + 5).mismatch(want));
            pairs.get(i)[0].close();
            pairs.get(i)[1].close();
        }
        assertTrue(sends.stream().allMatch(send -> send.isDone() && send.failure() == null));
        SendPath sent = sends.getFirst().path();
        Piece.LOCKED_MEMORY.orSkip(sent == path ? null : "path=" + sent + " wanted=" + path);
        assertEquals(
                path == SendPath.URING_ZC ? SendPath.URING : path,
                sends.getLast().path());
        assertEquals(0, fixture.handles.open());
    }

    @Test
    void moreSendsThanTheRingHasPlaces() throws Exception {
        open(SendPath.URING_ZC);
        List<PosixSocket[]> pairs = new ArrayList<>();
        byte[] bytes = random(100);
        SealedBuffer buffer = fixture.buffer(bytes);
        for (int i = 0; i < 300; i++) {
            PosixSocket[] pair = PosixSocket.unixPair();
            pairs.add(pair);
            outbox.shareAndSend(pair[0], buffer);
            outbox.shareAndSend(pair[0], buffer);
        }
        buffer.close();
        assertEquals(600, outbox.unfinished());
        assertTrue(outbox.finish(SOON));
        for (PosixSocket[] pair : pairs) {
            assertEquals(200, receive(pair[1], 200).length);
            pair[0].close();
            pair[1].close();
        }
    }

    @Test
    void handleGoesAfterTheNotificationAndNotWhenTheBytesAreAccepted() throws PosixException {
        byte[] bytes = random(MIB);
        SocketSend send = sentToAStuckPeer(bytes);
        assertArrayEquals(bytes, receive(fixture.peer, bytes.length));
        assertTrue(outbox.finish(SOON));
        assertTrue(send.isDone());
        assertEquals(0, fixture.handles.open());
    }

    @Test
    void plainCloseLeavesTheMemoryWithTheKernelAndCloseTakesItBack() throws PosixException {
        SocketSend send = sentToAStuckPeer(random(MIB));
        fixture.sender.close();
        assertFalse(outbox.finish(A_MOMENT));
        assertFalse(send.isDone());
        assertEquals(1, fixture.handles.open());
        outbox.close();
        assertTrue(send.isDone());
        assertEquals(0, fixture.handles.open());
    }

    /// A handle that nothing reaches may be healed, so the kernel's reach is kept for it.
    @Test
    void forgottenOutboxStaysReachableWhileTheKernelReads() throws Exception {
        sentToAStuckPeer(random(MIB));
        WeakReference<Outbox> forgotten = new WeakReference<>(outbox);
        outbox = null;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(10);
        }
        outbox = forgotten.get();
        assertNotNull(outbox);
    }

    @Test
    void abortTakesTheMemoryBack() throws PosixException {
        SocketSend send = sentToAStuckPeer(random(MIB));
        fixture.sender.abort();
        assertTrue(outbox.finish(SOON));
        assertTrue(send.isDone());
    }

    @Test
    void peerThatResetsGivesTheMemoryBack() throws PosixException {
        SocketSend send = sentToAStuckPeer(random(MIB));
        fixture.peer.abort();
        assertTrue(outbox.finish(SOON));
        assertTrue(send.isDone());
        SocketSend late = outbox.moveAndSend(fixture.sender, fixture.buffer(random(3)));
        assertTrue(outbox.finish(SOON));
        assertTrue(late.failure() instanceof PosixException.PeerClosed, late::toString);
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void closeEndsWhatIsInFlight(SendPath path) throws IOException {
        open(path);
        List<SocketSend> sends = new ArrayList<>();
        PosixSocket[] unix = PosixSocket.unixPair();
        PosixSocket[] other = tcpPair();
        other[0].setBlocking(false);
        SealedBuffer buffer = fixture.buffer(random(64 * MIB));
        for (PosixSocket socket : new PosixSocket[] {fixture.sender, unix[0], other[0]}) {
            sends.add(outbox.shareAndSend(socket, buffer));
            sends.add(outbox.shareAndSend(socket, buffer));
        }
        buffer.close();
        assertFalse(outbox.finish(A_MOMENT));
        assertEquals(6, outbox.unfinished());
        assertEquals(path != SendPath.SENDMSG, Descriptors.mappings("io_uring") > 0);
        outbox.close();
        assertEquals(0, outbox.unfinished());
        assertTrue(sends.stream().allMatch(send -> send.isDone() && send.failure() != null));
        assertEquals(0, fixture.handles.open());
        assertEquals(
                "outbox already closed",
                assertThrows(
                                IllegalStateException.class,
                                () -> outbox.moveAndSend(fixture.peer, fixture.buffer(random(1))))
                        .getMessage());
        unix[1].close();
        other[1].close();
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void failureEndsTheSendsBehindItAndNoOthers(SendPath path) throws IOException {
        open(path);
        PosixSocket[] unix = PosixSocket.unixPair();
        unix[1].close();
        SocketSend first = outbox.moveAndSend(unix[0], fixture.buffer(random(10)));
        SocketSend second = outbox.moveAndSend(unix[0], fixture.buffer(random(20)));
        SocketSend third = outbox.moveAndSend(fixture.sender, fixture.buffer(random(30)));
        // the kernel gives zero-copy memory back once the peer has read
        assertTrue(outbox.finish(path == SendPath.URING_ZC ? A_MOMENT : SOON) || path == SendPath.URING_ZC);
        assertArrayEquals(random(30), receive(fixture.peer, 30));
        assertTrue(outbox.finish(SOON));
        assertEquals(Errno.EPIPE, first.failure().errno());
        assertEquals(Errno.EPIPE, second.failure().errno());
        assertNull(third.failure());
        assertTrue(third.isDone());
        assertEquals(0, fixture.handles.open());
        unix[0].close();
    }

    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void refusedSendsLoseTheirHandles(SendPath path) throws Exception {
        open(path);
        SealedBuffer heap = SealedBuffer.adopt(MemorySegment.ofArray(new byte[4]), () -> {});
        assertThrows(IllegalArgumentException.class, () -> outbox.moveAndSend(fixture.sender, heap));
        assertFalse(heap.isOpen());
        SealedBuffer late = fixture.buffer(random(3));
        fixture.sender.close();
        assertThrows(PosixException.class, () -> outbox.moveAndSend(fixture.sender, late));
        assertFalse(late.isOpen());
        SealedBuffer stranger = fixture.buffer(random(3));
        CompletableFuture<Void> other = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                outbox.moveAndSend(fixture.peer, stranger);
                other.complete(null);
            } catch (Throwable failure) {
                other.completeExceptionally(failure);
            }
        });
        ExecutionException refused = assertThrows(ExecutionException.class, () -> other.get(60, TimeUnit.SECONDS));
        assertTrue(refused.getCause() instanceof WrongThreadException, refused::toString);
        assertFalse(stranger.isOpen());
        assertEquals(0, outbox.unfinished());
    }

    /// As in a container: the system call filter, which is a thread's own, refuses io_uring.
    @Test
    void sendsByPlainCallsWhereTheRingIsForbidden() throws Exception {
        outbox = Outbox.open();
        CompletableFuture<SocketSend> sent = new CompletableFuture<>();
        CompletableFuture<Boolean> filtered = new CompletableFuture<>();
        SealedBuffer buffer = fixture.buffer(random(100));
        Thread.ofPlatform().start(() -> {
            try {
                filtered.complete(Capabilities.forbid(425));
                try (Outbox plain = Outbox.open()) {
                    SocketSend send = plain.moveAndSend(fixture.sender, buffer);
                    assertTrue(plain.finish(SOON));
                    assertEquals(SendPath.SENDMSG, plain.path());
                    sent.complete(send);
                }
            } catch (Throwable failure) {
                sent.completeExceptionally(failure);
            }
        });
        Piece.FILTERS.orSkip(filtered.get() ? null : "system calls cannot be filtered");
        assertEquals(SendPath.SENDMSG, sent.get(60, TimeUnit.SECONDS).path());
        assertArrayEquals(random(100), receive(fixture.peer, 100));
    }

    /// The ring would be the carrier's, which ends when it has been idle; the kernel cancels what it has asked for.
    @ParameterizedTest
    @EnumSource(names = "ZEROCOPY", mode = EnumSource.Mode.EXCLUDE)
    void virtualThreadIsRefusedByName(SendPath path) throws InterruptedException {
        outbox = Outbox.open(path);
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        Thread.ofVirtual().name("fibre").start(() -> {
            try {
                Outbox.open(path).close();
                refused.complete(new AssertionError("opened"));
            } catch (Throwable failure) {
                refused.complete(failure);
            }
        });
        Throwable failure = refused.join();
        assertTrue(failure instanceof WrongThreadException, failure::toString);
        assertEquals("an outbox belongs to a platform thread: caller=fibre virtual=true", failure.getMessage());
    }

    @Test
    void oneSocketsPathIsNoOutboxs() {
        outbox = Outbox.open();
        assertEquals(
                "not a path of an outbox: path=ZEROCOPY",
                assertThrows(IllegalArgumentException.class, () -> Outbox.open(SendPath.ZEROCOPY))
                        .getMessage());
    }
}
