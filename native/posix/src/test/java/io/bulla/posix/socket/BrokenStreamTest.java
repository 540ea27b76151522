// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static io.bulla.posix.fixtures.SendFixture.MIB;
import static io.bulla.posix.fixtures.SendFixture.random;
import static io.bulla.posix.fixtures.SendFixture.receive;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import io.bulla.posix.internal.uring.Ring;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A send fails after the kernel took a part: what comes next would be read in the place of what is missing.
class BrokenStreamTest {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int ENOBUFS = Errno.ENOBUFS.number();

    private SendFixture fixture;

    @BeforeEach
    void open() throws IOException {
        fixture = new SendFixture();
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        SyscallInterceptor.watch(null);
        fixture.close();
    }

    /// From the n-th on, every `sendmsg` of this thread fails.
    private static void refuseSendmsgFrom(int nth) {
        Thread self = Thread.currentThread();
        int[] count = new int[1];
        SyscallInterceptor.watch((call, _) ->
                call.equals("sendmsg") && Thread.currentThread() == self && ++count[0] >= nth ? ENOBUFS : 0);
    }

    private void assertBroken(PosixException refused) {
        assertTrue(
                refused.getMessage().contains(": Broken pipe: errno=32 socket=broken first=["), refused.getMessage());
        assertTrue(refused.getMessage().contains("No buffer space available: errno=105"), refused.getMessage());
        assertFalse(fixture.sender.isOpen());
        assertEquals(0, fixture.handles.open());
    }

    /// All that the peer gets is the begin of what was sent first.
    private void assertPeerReadsABeginOf(byte[] first) throws PosixException {
        byte[] got = new byte[0];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(MIB);
            while (true) {
                long read = fixture.peer.receive(target);
                if (read < 0) {
                    break;
                }
                byte[] more = target.asSlice(0, read).toArray(JAVA_BYTE);
                int at = got.length;
                got = Arrays.copyOf(got, at + more.length);
                System.arraycopy(more, 0, got, at, more.length);
            }
        } catch (PosixException.PeerClosed reset) {
            // the connection was aborted: not an orderly end
        }
        assertTrue(got.length < first.length);
        assertArrayEquals(Arrays.copyOf(first, got.length), got);
    }

    @Test
    void outboxOfCallsRefusesWhatComesBehindAHole() throws IOException {
        byte[] first = random(16 * MIB);
        try (Outbox outbox = Outbox.open(SendPath.SENDMSG)) {
            refuseSendmsgFrom(2);
            SocketSend failed = outbox.moveAndSend(fixture.sender, fixture.buffer(first));
            assertTrue(outbox.finish(SOON));
            SyscallInterceptor.watch(null);
            assertEquals(Errno.ENOBUFS, failed.failure().errno());
            SealedBuffer late = fixture.buffer(random(10));
            assertBroken(assertThrows(PosixException.class, () -> outbox.moveAndSend(fixture.sender, late)));
            assertEquals(0, outbox.unfinished());
        }
        assertPeerReadsABeginOf(first);
    }

    @Test
    void outboxOfARingRefusesWhatComesBehindAHole() throws IOException {
        RingOutbox outbox;
        try {
            outbox = RingOutbox.open(SendPath.URING);
        } catch (PosixException unavailable) {
            Piece.IO_URING.orSkip(unavailable);
            return;
        }
        try (outbox) {
            SocketSend failed = outbox.moveAndSend(fixture.sender, fixture.buffer(random(10)));
            call(outbox);
            outbox.completed(0, 4, 0);
            call(outbox);
            outbox.completed(0, -ENOBUFS, 0);
            assertEquals(6, failed.kernel.remaining());
            SealedBuffer late = fixture.buffer(random(10));
            assertBroken(assertThrows(PosixException.class, () -> outbox.moveAndSend(fixture.sender, late)));
            assertEquals(0, outbox.unfinished());
        }
    }

    private void call(RingOutbox outbox) {
        try (Arena arena = Arena.ofConfined()) {
            outbox.call(outbox.lane(fixture.sender), arena.allocate(64, 8));
        }
    }

    /// The lane has a claim of its own on the descriptor, beside the one that the break gives up.
    @Test
    void zeroCopySendThatIsNotDoneKeepsNoBrokenStreamOpen() throws IOException {
        RingOutbox outbox;
        try {
            outbox = RingOutbox.open(SendPath.URING_ZC);
        } catch (PosixException unavailable) {
            Piece.IO_URING.orSkip(unavailable);
            return;
        }
        try (outbox) {
            outbox.moveAndSend(fixture.sender, fixture.buffer(random(10)));
            SocketSend failed = outbox.moveAndSend(fixture.sender, fixture.buffer(random(10)));
            call(outbox);
            outbox.completed(0, 10, Ring.CQE_MORE);
            call(outbox);
            outbox.completed(1, -104, 0);
            assertEquals(Errno.ECONNRESET, failed.failure().errno());
            assertEquals(1, outbox.unfinished());
            SealedBuffer late = fixture.buffer(random(10));
            assertThrows(PosixException.class, () -> outbox.moveAndSend(fixture.sender, late));
            outbox.completed(0, 0, Ring.CQE_NOTIF);
            assertEquals(0, outbox.unfinished());
        }
    }

    @Test
    void zeroCopySocketRefusesWhatComesBehindAHole() throws IOException {
        byte[] first = random(16 * MIB);
        ZeroCopySocket zeroCopy;
        try {
            zeroCopy = ZeroCopySocket.over(fixture.sender);
        } catch (PosixException unsupported) {
            Piece.ZERO_COPY.orSkip(unsupported);
            return;
        }
        try (zeroCopy) {
            refuseSendmsgFrom(2);
            SealedBuffer buffer = fixture.buffer(first);
            PosixException failed = assertThrows(PosixException.class, () -> zeroCopy.moveAndSend(buffer));
            SyscallInterceptor.watch(null);
            assertEquals(Errno.ENOBUFS, failed.errno());
            assertTrue(zeroCopy.finish(SOON));
            SealedBuffer late = fixture.buffer(random(10));
            assertBroken(assertThrows(PosixException.class, () -> zeroCopy.moveAndSend(late)));
        }
        assertPeerReadsABeginOf(first);
    }

    @Test
    void plainSendThatFailsHalfwayBreaksTheStream() throws IOException {
        byte[] first = random(16 * MIB);
        fixture.sender.setBlocking(false);
        refuseSendmsgFrom(2);
        SealedBuffer buffer = fixture.buffer(first);
        assertThrows(PosixException.class, () -> fixture.sender.moveAndSend(buffer));
        SyscallInterceptor.watch(null);
        SealedBuffer late = fixture.buffer(random(10));
        assertBroken(assertThrows(PosixException.class, () -> fixture.sender.moveAndSend(late)));
        assertPeerReadsABeginOf(first);
    }

    @Test
    void plainSendThatFailsBeforeTheFirstByteBreaksNothing() throws IOException {
        refuseSendmsgFrom(1);
        SealedBuffer buffer = fixture.buffer(random(10));
        assertThrows(PosixException.class, () -> fixture.sender.moveAndSend(buffer));
        SyscallInterceptor.watch(null);
        fixture.sender.moveAndSend(fixture.buffer(random(20)));
        assertArrayEquals(random(20), receive(fixture.peer, 20));
    }
}
