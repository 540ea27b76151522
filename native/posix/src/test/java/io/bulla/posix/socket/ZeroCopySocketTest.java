// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static io.bulla.posix.fixtures.SendFixture.MIB;
import static io.bulla.posix.fixtures.SendFixture.random;
import static io.bulla.posix.fixtures.SendFixture.receive;
import static io.bulla.posix.fixtures.SendFixture.receiveBeside;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.Capabilities;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.fixtures.ZeroCopySockets;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Needs(value = Piece.ZERO_COPY, by = ZeroCopySockets.class)
class ZeroCopySocketTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration A_MOMENT = Duration.ofMillis(300);

    private SendFixture fixture;
    private ZeroCopySocket zeroCopy;

    @BeforeEach
    void open() throws IOException {
        fixture = new SendFixture();
        zeroCopy = ZeroCopySocket.over(fixture.sender);
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        zeroCopy.close();
        zeroCopy.close();
        fixture.close();
    }

    /// What the peer has not taken lies in the kernel's queue by address only.
    private SocketSend sentToAStuckPeer(byte[] bytes) throws PosixException {
        SealedBuffer buffer = fixture.buffer(bytes);
        SealedBuffer given = buffer.share();
        SocketSend send = zeroCopy.moveAndSend(given);
        buffer.close();
        // the sender's own handle is another one
        given.close();
        assertTrue(send.isEnded());
        assertFalse(zeroCopy.finish(A_MOMENT));
        assertFalse(send.isDone());
        assertEquals(1, fixture.handles.open());
        return send;
    }

    @Test
    void handleGoesAfterTheNotificationAndNotWhenTheBytesAreAccepted() throws PosixException {
        byte[] bytes = random(MIB);
        SocketSend send = sentToAStuckPeer(bytes);
        assertArrayEquals(bytes, receive(fixture.peer, bytes.length));
        assertTrue(zeroCopy.finish(SOON));
        assertTrue(send.isDone());
        assertEquals(0, fixture.handles.open());
        assertEquals(SendPath.ZEROCOPY, send.path());
        assertEquals(0, zeroCopy.plainCalls());
        assertTrue(zeroCopy.notifiedCalls() >= 1);
        // on the loopback the kernel copies what it delivers, and says so
        assertEquals(zeroCopy.notifiedCalls(), zeroCopy.copiedCalls());
    }

    /// Calls that would block take no number: else some would never be notified.
    @Test
    void eachPartialCallAddsANotification() throws Exception {
        byte[] bytes = random(8 * MIB);
        fixture.sender.setSendBuffer(64 << 10);
        CompletableFuture<byte[]> received = receiveBeside(fixture.peer, 3 * bytes.length);
        for (int i = 0; i < 3; i++) {
            zeroCopy.moveAndSend(fixture.buffer(bytes));
        }
        byte[] all = received.get(30, TimeUnit.SECONDS);
        for (int i = 0; i < 3; i++) {
            assertEquals(
                    0,
                    MemorySegment.ofArray(all)
                                    .asSlice((long) i * bytes.length, bytes.length)
                                    .mismatch(MemorySegment.ofArray(bytes))
                            + 1);
        }
        assertTrue(zeroCopy.finish(SOON));
        assertTrue(zeroCopy.notifiedCalls() > 3, () -> "calls=" + zeroCopy.notifiedCalls());
    }

    @Test
    void plainCloseLeavesTheMemoryWithTheKernelAndCloseTakesItBack() throws PosixException {
        SocketSend send = sentToAStuckPeer(random(MIB));
        fixture.sender.close();
        assertFalse(zeroCopy.finish(A_MOMENT));
        assertFalse(send.isDone());
        assertEquals(1, fixture.handles.open());
        zeroCopy.close();
        assertTrue(send.isDone());
        assertEquals(0, fixture.handles.open());
    }

    @Test
    void plainCloseDeliversToAPeerThatReadsLater() throws PosixException {
        byte[] bytes = random(MIB);
        sentToAStuckPeer(bytes);
        fixture.sender.close();
        assertArrayEquals(bytes, receive(fixture.peer, bytes.length + 1));
        assertTrue(zeroCopy.finish(SOON));
    }

    @Test
    void abortTakesTheMemoryBack() throws PosixException {
        SocketSend send = sentToAStuckPeer(random(MIB));
        fixture.sender.abort();
        assertTrue(zeroCopy.finish(SOON));
        assertTrue(send.isDone());
        assertEquals(0, fixture.handles.open());
    }

    @Test
    void peerThatResetsGivesTheMemoryBack() throws PosixException {
        SocketSend send = sentToAStuckPeer(random(MIB));
        fixture.peer.abort();
        assertTrue(zeroCopy.finish(SOON));
        assertTrue(send.isDone());
        assertThrows(PosixException.PeerClosed.class, () -> zeroCopy.moveAndSend(fixture.buffer(random(10))));
    }

    private CompletableFuture<Void> blockedSend() throws InterruptedException {
        CompletableFuture<Void> sent = new CompletableFuture<>();
        SealedBuffer buffer = fixture.buffer(random(64 * MIB));
        Thread.ofPlatform().start(() -> {
            try {
                zeroCopy.moveAndSend(buffer);
                sent.complete(null);
            } catch (Throwable failure) {
                sent.completeExceptionally(failure);
            }
        });
        Thread.sleep(200);
        assertFalse(sent.isDone());
        return sent;
    }

    @Test
    void abortWakesABlockedSend() throws Exception {
        CompletableFuture<Void> sent = blockedSend();
        fixture.sender.abort();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> sent.get(60, TimeUnit.SECONDS));
        assertTrue(failed.getCause() instanceof PosixException, failed::toString);
        assertTrue(zeroCopy.finish(SOON));
        assertEquals(0, fixture.handles.open());
    }

    @Test
    void closeWakesABlockedSend() throws Exception {
        CompletableFuture<Void> sent = blockedSend();
        zeroCopy.close();
        assertThrows(ExecutionException.class, () -> sent.get(60, TimeUnit.SECONDS));
        assertEquals(0, fixture.handles.open());
        assertEquals(
                "send: Bad file descriptor: errno=9 remaining=3 path=null",
                assertThrows(PosixException.class, () -> zeroCopy.moveAndSend(fixture.buffer(random(3))))
                        .getMessage());
        assertEquals(0, fixture.handles.open());
    }

    @Test
    void unixSocketIsRefusedByName() throws PosixException {
        PosixSocket[] pair = PosixSocket.unixPair();
        PosixException refused = assertThrows(PosixException.class, () -> ZeroCopySocket.over(pair[0]));
        assertEquals(Errno.EOPNOTSUPP, refused.errno());
        assertTrue(
                refused.getMessage()
                        .startsWith("setsockopt: Operation not supported: errno=95 option=SO_ZEROCOPY socket="),
                refused.getMessage());
        pair[0].close();
        pair[1].close();
    }

    @Test
    void whatCannotBeSentLosesItsHandle() throws PosixException {
        SealedBuffer heap = SealedBuffer.adopt(MemorySegment.ofArray(new byte[4]), () -> {});
        assertThrows(IllegalArgumentException.class, () -> zeroCopy.moveAndSend(heap));
        assertFalse(heap.isOpen());
        assertThrows(ReleasedBufferException.class, () -> zeroCopy.moveAndSend(heap));
        assertTrue(zeroCopy.moveAndSend(fixture.buffer(new byte[0])).isDone());
    }

    /// Capabilities are a thread's own, so that a thread without the one to lock memory meets the limit.
    @Test
    void moreThanMayBeLockedGoesOutPlainly() throws Exception {
        int size = 32 * MIB;
        CompletableFuture<byte[]> received = receiveBeside(fixture.peer, size);
        CompletableFuture<Boolean> sent = new CompletableFuture<>();
        SealedBuffer buffer = fixture.buffer(random(size));
        Thread.ofPlatform().start(() -> {
            try {
                sent.complete(Capabilities.dropIpcLock());
                zeroCopy.moveAndSend(buffer);
            } catch (Throwable failure) {
                sent.completeExceptionally(failure);
            }
        });
        assertArrayEquals(random(size), received.get(30, TimeUnit.SECONDS));
        assertTrue(zeroCopy.finish(SOON));
        Piece.LOCK_LIMIT.orSkip(sent.get() ? null : "cannot give up CAP_IPC_LOCK");
        Piece.LOCK_LIMIT.orSkip(Capabilities.lockedBytes() < size ? null : "memory may be locked without a limit");
        assertTrue(zeroCopy.plainCalls() > 0);
    }
}
