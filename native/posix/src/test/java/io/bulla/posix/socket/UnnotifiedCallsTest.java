// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

class UnnotifiedCallsTest {

    private final Arena arena = Arena.ofAuto();

    private SocketSend accepted(UnnotifiedCalls calls, int numberOfCalls) {
        SocketSend send = SocketSend.of(null, SealedBuffer.adopt(arena.allocate(numberOfCalls), () -> {}));
        for (int i = 0; i < numberOfCalls; i++) {
            send.begin(SendPath.ZEROCOPY);
            calls.add(send);
            send.accepted(1, true);
        }
        return send;
    }

    @Test
    void rangesEndTheSendsWhoseLastCallTheyHold() {
        UnnotifiedCalls calls = new UnnotifiedCalls(0);
        SocketSend first = accepted(calls, 1);
        SocketSend second = accepted(calls, 3);
        assertEquals(3, calls.notified(0, 2));
        assertTrue(first.isDone());
        assertFalse(second.isDone());
        calls.notified(3, 3);
        assertTrue(second.isDone());
        assertTrue(calls.isEmpty());
    }

    @Test
    void numbersWrap() {
        UnnotifiedCalls calls = new UnnotifiedCalls(-2);
        SocketSend before = accepted(calls, 2);
        SocketSend after = accepted(calls, 2);
        assertEquals(3, calls.notified(-2, 0));
        assertTrue(before.isDone());
        assertFalse(after.isDone());
        calls.notified(1, 1);
        assertTrue(after.isDone() && calls.isEmpty());
    }

    @Test
    void laterOnesMayComeFirst() {
        UnnotifiedCalls calls = new UnnotifiedCalls(-40);
        SocketSend early = accepted(calls, 1);
        SocketSend late = accepted(calls, 99);
        calls.notified(-39, 59);
        assertTrue(late.isDone());
        assertFalse(early.isDone() || calls.isEmpty());
        calls.notified(-40, -40);
        assertTrue(early.isDone() && calls.isEmpty());
    }

    @Test
    void refusesWhatIsNotKnown() {
        UnnotifiedCalls calls = new UnnotifiedCalls(-1);
        accepted(calls, 3);
        assertEquals(
                "notification of no such call: number=2 oldest=4294967295 next=2",
                assertThrows(IllegalStateException.class, () -> calls.notified(2, 2))
                        .getMessage());
        calls.notified(0, 0);
        assertEquals(
                "notification of no such call: number=0 oldest=4294967295 next=2",
                assertThrows(IllegalStateException.class, () -> calls.notified(0, 0))
                        .getMessage());
    }
}
