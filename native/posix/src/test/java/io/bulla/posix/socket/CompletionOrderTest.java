// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.posix.Errno;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.posix.internal.uring.Ring;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Completions in every order that the kernel may choose, told to an outbox as if by its ring.
@Needs(value = Piece.IO_URING, by = ZeroCopyRing.class)
class CompletionOrderTest {

    private static final int SIZE = 10;
    private static final int MORE = Ring.CQE_MORE;
    private static final int NOTIF = Ring.CQE_NOTIF;
    private static final int COPIED = 0x80000000;

    private SendFixture fixture;
    private RingOutbox outbox;
    private SocketSend send;

    @BeforeEach
    void open() throws IOException {
        fixture = new SendFixture();
        outbox = RingOutbox.open(SendPath.URING_ZC);
        send = outbox.moveAndSend(fixture.sender, fixture.buffer(new byte[SIZE]));
        call();
    }

    @AfterEach
    void nothingStays() throws IOException, InterruptedException {
        outbox.close();
        fixture.close();
    }

    private void call() {
        try (Arena arena = Arena.ofConfined()) {
            outbox.call(outbox.lane(fixture.sender), arena.allocate(64, 8));
        }
    }

    private void completed(int result, int flags) {
        outbox.completed(0, result, flags);
    }

    private void assertHeld() {
        assertFalse(send.isDone());
        assertEquals(1, fixture.handles.open());
        assertEquals(1, outbox.unfinished());
    }

    private void assertDone() {
        assertTrue(send.isDone());
        assertEquals(0, fixture.handles.open());
        assertEquals(0, outbox.unfinished());
    }

    @Test
    void acceptedThenNotified() {
        completed(SIZE, MORE);
        assertHeld();
        completed(COPIED, NOTIF);
        assertDone();
        assertNull(send.failure());
    }

    @Test
    void notifiedThenAccepted() {
        completed(0, NOTIF);
        assertHeld();
        completed(SIZE, MORE);
        assertDone();
    }

    @Test
    void acceptedAndNoMore() {
        completed(SIZE, 0);
        assertDone();
    }

    @Test
    void failedAndNoMore() {
        completed(-104, 0);
        assertDone();
        assertEquals(Errno.ECONNRESET, send.failure().errno());
    }

    @Test
    void failedThenNotified() {
        completed(-104, MORE);
        assertHeld();
        completed(0, NOTIF);
        assertDone();
        assertEquals(
                "send: Connection reset by peer: errno=104 remaining=10 path=URING_ZC",
                send.failure().getMessage());
    }

    @Test
    void notifiedThenFailed() {
        completed(0, NOTIF);
        assertHeld();
        completed(-104, MORE);
        assertDone();
    }

    @Test
    void partsNotifiedOutOfStep() {
        completed(4, MORE);
        assertHeld();
        call();
        completed(5, MORE);
        completed(0, NOTIF);
        assertHeld();
        call();
        completed(0, NOTIF);
        completed(1, MORE);
        assertHeld();
        completed(0, NOTIF);
        assertDone();
    }

    @Test
    void notSupportedIsSentWithACopyAndStillWaitsForTheNotification() {
        completed(-95, MORE);
        assertHeld();
        call();
        assertEquals(SendPath.URING, send.path());
        completed(SIZE, 0);
        assertHeld();
        completed(0, NOTIF);
        assertDone();
        assertNull(send.failure());
    }

    @Test
    void memoryThatMayNotBeLockedIsSentWithACopy() {
        completed(-12, 0);
        call();
        assertEquals(SendPath.URING, send.path());
        completed(-12, 0);
        assertDone();
        assertEquals(Errno.ENOMEM, send.failure().errno());
    }

    @Test
    void answerOfNothingIsAFailure() {
        completed(0, MORE);
        assertHeld();
        completed(0, NOTIF);
        assertDone();
        assertEquals(Errno.EPIPE, send.failure().errno());
    }

    @Test
    void notificationTooManyIsRefused() {
        completed(0, NOTIF);
        assertEquals(
                "event out of order: event=notified state=calling owed=-1",
                assertThrows(IllegalStateException.class, () -> completed(0, NOTIF))
                        .getMessage());
        completed(SIZE, MORE);
        assertDone();
    }
}
