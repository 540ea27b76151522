// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.Delivery;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// What a send holds, gives back and says.
class PendingSendTest {

    private final Sends sends = new Sends();

    private static SealedBuffer bytes(int count) {
        byte[] all = new byte[count];
        for (int i = 0; i < count; i++) {
            all[i] = (byte) i;
        }
        return SealedBuffer.adopt(MemorySegment.ofArray(all), () -> {});
    }

    @Test
    void deliverySaysWhereAndHowLong() {
        PendingSend send = sends.send(5, 99);
        send.attempts = 2;
        sends.now += 42;
        send.reached(Delivery.Status.WRITTEN, sends.now);
        assertEquals(new Delivery(Sends.RANK, 5, Delivery.Status.WRITTEN, 99, 2, 42), send.join());
        assertEquals(List.of(), sends.completed, "the loop knows");
    }

    @Test
    void firstVerdictStands() {
        PendingSend send = sends.send(5, 99);
        send.fail(new IOException("first"));
        send.reached(Delivery.Status.ACKNOWLEDGED, sends.now);
        send.fail(new IOException("second"));
        assertEquals("first", send.exceptionNow().getMessage());
        assertEquals(List.of(), sends.completed);
    }

    @Test
    void whatIsCompletedFromOutsideIsToldOnce() {
        PendingSend cancelled = sends.send(1, 1);
        assertTrue(cancelled.cancel(true));
        // a future that is cancelled says yes again
        cancelled.cancel(true);
        PendingSend completed = sends.send(1, 1);
        Delivery delivery = new Delivery(1, 1, Delivery.Status.WRITTEN, 1, 1, 1);
        assertTrue(completed.complete(delivery));
        assertTrue(sends.completed.contains(completed));
        assertFalse(completed.complete(delivery));
        assertFalse(completed.completeExceptionally(new IOException("late")));
        assertFalse(completed.cancel(true));
        PendingSend failed = sends.send(1, 1);
        assertTrue(failed.completeExceptionally(new IOException("own")));
        assertFalse(failed.completeExceptionally(new IOException("late")));
        assertEquals(
                List.of(completed, failed),
                sends.completed.stream().filter(each -> each != cancelled).toList());
        assertTrue(sends.completed.contains(cancelled));
    }

    @Test
    void derivedFuturesAreNoSends() {
        assertEquals(
                CompletableFuture.class, sends.send(1, 1).newIncompleteFuture().getClass());
    }

    @Test
    void piecesAreTheBytes() {
        try (SealedBuffer handle = bytes(10)) {
            PendingSend send = sends.holding(Frame.Kind.DIRECT, handle.share());
            try (SealedBuffer whole = send.piece(10)) {
                assertArrayEquals(handle.toByteArray(), whole.toByteArray());
            }
            try (SealedBuffer first = send.piece(9)) {
                assertArrayEquals(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8}, first.toByteArray());
            }
            send.offset = 9;
            try (SealedBuffer last = send.piece(9)) {
                assertArrayEquals(new byte[] {9}, last.toByteArray());
            }
            send.offset = 4;
            try (SealedBuffer middle = send.piece(3)) {
                assertArrayEquals(new byte[] {4, 5, 6}, middle.toByteArray());
            }
            // more may be written at once than is left
            try (SealedBuffer rest = send.piece(100)) {
                assertArrayEquals(new byte[] {4, 5, 6, 7, 8, 9}, rest.toByteArray());
            }
            send.release();
        }
    }

    @Test
    void markSaysTheFormat() {
        for (WireFormat format : WireFormat.values()) {
            PendingSend send =
                    new PendingSend(Frame.Kind.DIRECT, 4, SendOptions.DEFAULT.packed(format), 6, null, sends);
            assertEquals(format.mark(), send.mark());
            assertNotEquals(0, send.mark());
        }
    }

    @Test
    void handleRoomAndDeadlineGoOnce() {
        SealedBuffer handle = bytes(10);
        PendingSend send = sends.holding(Frame.Kind.DIRECT, handle);
        sends.quota.take(10);
        send.hasRoom = true;
        CompletableFuture<Void> deadline = new CompletableFuture<>();
        send.deadline = deadline;
        send.release();
        send.release();
        assertEquals(List.of(handle), sends.closed);
        assertFalse(handle.isOpen());
        assertNull(send.handle);
        assertTrue(deadline.isCancelled());
        assertNull(send.deadline);
        assertEquals(0, sends.quota.usedMessages());
        assertEquals(0, sends.quota.usedBytes());
    }

    @Test
    void roomOfAMessageThatIsNotDirectIsGivenByItsOwner() {
        PendingSend send = sends.send(Frame.Kind.BROADCAST, 1, 10, 0);
        sends.quota.take(10);
        send.hasRoom = true;
        send.release();
        assertEquals(1, sends.quota.usedMessages());
        send.giveRoom();
        send.giveRoom();
        assertEquals(0, sends.quota.usedMessages());
        assertEquals(0, sends.quota.usedBytes());
    }

    /// A listener to handles may come back to the send that lets go of one.
    @Test
    void releaseWithinAReleaseLetsGoOnce() {
        PendingSend[] own = new PendingSend[1];
        SealedBuffer handle = SealedBuffer.adopt(MemorySegment.ofArray(new byte[10]), () -> own[0].release());
        own[0] = sends.holding(Frame.Kind.DIRECT, handle);
        own[0].release();
        assertEquals(List.of(handle), sends.closed);
    }

    @Test
    void roomIsGivenOnceToo() {
        PendingSend send = sends.send(1, 1 << 19);
        sends.quota.take(1 << 19);
        send.hasRoom = true;
        CompletableFuture<Void> again = sends.quota.await(1).thenRun(send::giveRoom);
        assertFalse(again.isDone());
        send.giveRoom();
        assertTrue(again.isDone());
        assertEquals(0, sends.quota.usedMessages());
        assertEquals(0, sends.quota.usedBytes());
    }

    @Test
    void lateOneNamesItsValues() {
        PendingSend send = new PendingSend(
                Frame.Kind.DIRECT, 4, SendOptions.DEFAULT.within(Duration.ofMillis(25)), 6, null, sends);
        send.attempts = 3;
        assertEquals(
                "deadline has passed: peer=3 tag=4 bytes=6 millis=25 attempts=3",
                send.late().getMessage());
        assertEquals(
                "deadline has passed: peer=3 tag=1 bytes=6 millis=0 attempts=0",
                sends.send(1, 6).late().getMessage());
    }

    @Test
    void plainMessageIsItsNodesAndAllHere() {
        PendingSend send = sends.send(1, 6);
        assertEquals(Sends.SELF, send.origin());
        assertEquals(0, send.session());
        assertEquals(0, send.number());
        assertEquals(0, send.mark());
        assertFalse(send.isSigned());
        assertFalse(send.isLanding());
        assertTrue(send.isReady(1));
        assertEquals(6, send.landed());
        assertTrue(send.begin());
        sends.wasNoted = true;
        assertFalse(send.begin());
        sends.now += 7;
        assertEquals(7, send.ageNanos(sends.now));
    }
}
