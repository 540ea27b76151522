// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class KernelSendTest {

    private static final int EPIPE = 32;

    private int frees;
    private final Lease lease = lease();

    private Lease lease() {
        return new Lease(new RefCount(null) {
            @Override
            protected void free() {
                frees++;
            }
        }) {};
    }

    private final KernelSend send = new KernelSend(lease, 10);

    private void assertHeld() {
        assertTrue(lease.isOpen());
        assertFalse(send.isDone());
        assertEquals(0, frees);
    }

    private void assertDone() {
        assertFalse(lease.isOpen());
        assertTrue(send.isDone());
        assertTrue(send.isEnded());
        assertEquals(1, frees);
    }

    private static void assertRefused(String message, Executable event) {
        assertEquals(
                "event out of order: event=" + message,
                assertThrows(IllegalStateException.class, event).getMessage());
    }

    /// What the one who frees sees of the send; ordering 3 says: all of it.
    private static final class Seen extends RefCount {

        private final KernelSend send = new KernelSend(new Lease(this) {}, 10);
        private long remaining = -1;
        private int error = -1;

        Seen() {
            super(null);
        }

        @Override
        protected void free() {
            remaining = send.remaining();
            error = send.error();
        }
    }

    @Test
    void bytesAreCountedBeforeTheLeaseGoes() {
        var seen = new Seen();
        seen.send.begin();
        seen.send.accepted(10, false);
        assertEquals(0, seen.remaining);
    }

    @Test
    void errorIsThereBeforeTheLeaseGoes() {
        var seen = new Seen();
        seen.send.begin();
        seen.send.failed(EPIPE, false);
        assertEquals(EPIPE, seen.error);
    }

    @Test
    void leaseGoesAtTheNotificationAndNotAtTheLastByte() {
        send.begin();
        assertHeld();
        send.accepted(10, true);
        assertHeld();
        assertTrue(send.isEnded());
        send.notified();
        assertDone();
    }

    @Test
    void leaseGoesWithTheLastByteWhereNoNotificationFollows() {
        send.begin();
        send.accepted(10, false);
        assertDone();
        assertEquals(0, send.error());
    }

    @Test
    void notificationMayComeBeforeTheAnswer() {
        send.begin();
        send.notified();
        assertHeld();
        send.accepted(10, true);
        assertDone();
    }

    @Test
    void eachCallAddsANotification() {
        send.begin();
        send.accepted(3, true);
        send.begin();
        send.accepted(3, false);
        send.begin();
        send.notTaken(false);
        send.begin();
        send.notTaken(true);
        assertEquals(4, send.remaining());
        send.begin();
        send.accepted(4, true);
        send.notified();
        send.notified();
        assertHeld();
        send.notified();
        assertDone();
    }

    @Test
    void notificationsBetweenCallsDoNotEndTheSend() {
        send.begin();
        send.accepted(3, true);
        send.notified();
        assertHeld();
        assertFalse(send.isEnded());
        send.begin();
        send.notified();
        send.accepted(7, true);
        assertDone();
    }

    @Test
    void errorWithoutANotificationEndsAtOnce() {
        send.begin();
        send.failed(EPIPE, false);
        assertDone();
        assertEquals(EPIPE, send.error());
        assertEquals(10, send.remaining());
    }

    @Test
    void errorWaitsForWhatIsOwed() {
        send.begin();
        send.accepted(1, true);
        send.begin();
        send.failed(EPIPE, true);
        send.notified();
        assertHeld();
        assertTrue(send.isEnded());
        send.notified();
        assertDone();
    }

    @Test
    void givingUpWaitsForWhatIsOwed() {
        send.begin();
        send.accepted(1, true);
        send.giveUp(EPIPE);
        assertHeld();
        send.notified();
        assertDone();
    }

    @Test
    void nothingToSendIsDone() {
        Lease other = lease();
        assertTrue(new KernelSend(other, 0).isDone());
        assertFalse(other.isOpen());
    }

    @Test
    void refusesWhatDoesNotFitAndChangesNothing() {
        assertRefused("accepted state=idle owed=0", () -> send.accepted(1, true));
        assertRefused("notTaken state=idle owed=0", () -> send.notTaken(false));
        assertRefused("failed state=idle owed=0", () -> send.failed(EPIPE, false));
        assertRefused("notified state=idle owed=0", send::notified);
        send.begin();
        assertRefused("begin state=calling owed=0", send::begin);
        assertRefused("giveUp state=calling owed=0", () -> send.giveUp(EPIPE));
        send.notified();
        assertRefused("notified state=calling owed=-1", send::notified);
        assertRefused("accepted state=calling owed=-1", () -> send.accepted(1, false));
        assertRefused("notTaken state=calling owed=-1", () -> send.notTaken(false));
        assertRefused("failed state=calling owed=-1", () -> send.failed(EPIPE, false));
        assertEquals(10, send.remaining());
        assertEquals(0, send.error());
        send.accepted(10, true);
        assertDone();
        assertRefused("notified state=ended owed=0", send::notified);
        assertRefused("begin state=ended owed=0", send::begin);
        assertRefused("giveUp state=ended owed=0", () -> send.giveUp(EPIPE));
        assertEquals("KernelSend[state=ended owed=0]", send.toString());
    }

    @Test
    void refusesNumbersThatAreNone() {
        assertEquals(
                "number of bytes is negative: byteSize=-1",
                assertThrows(IllegalArgumentException.class, () -> new KernelSend(lease, -1))
                        .getMessage());
        send.begin();
        List<String> messages = new ArrayList<>();
        for (long bytes : new long[] {0, -1, 11}) {
            messages.add(assertThrows(IllegalArgumentException.class, () -> send.accepted(bytes, true))
                    .getMessage());
        }
        assertEquals("accepted other bytes than there are: bytes=11 remaining=10", messages.getLast());
        assertEquals(
                "no error number: errno=0",
                assertThrows(IllegalArgumentException.class, () -> send.failed(0, false))
                        .getMessage());
        assertHeld();
    }

    @Test
    void smallestErrorNumberIsOne() {
        send.begin();
        send.failed(1, false);
        assertDone();
    }
}
