// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What a connection owes is written once, in its order, and the newest of a kind.
class ControlQueueTest {

    private final List<String> written = new ArrayList<>();
    private final ControlQueue queue = new ControlQueue(new ControlQueue.Out() {
        @Override
        public void control(Frame.Kind kind) {
            written.add(kind.name());
        }

        @Override
        public void control(Frame control) {
            written.add(control.kind() + " " + control.tag());
        }

        @Override
        public void reject(Frame message, String why) {
            written.add("REJECT " + message.tag() + " " + why);
        }
    });

    private static Frame frame(Frame.Kind kind, int tag) {
        return Frame.control(kind, tag, 2, 0);
    }

    private List<String> write() {
        written.clear();
        boolean some = queue.write(() -> frame(Frame.Kind.ACK, 8));
        assertEquals(!written.isEmpty(), some);
        return List.copyOf(written);
    }

    @Test
    void nothingIsOwedAtFirst() {
        assertEquals(List.of(), write());
    }

    @Test
    void eachKindIsWrittenOnce() {
        queue.oweAck();
        queue.oweAck();
        assertEquals(List.of("ACK 8"), write());
        assertEquals(List.of(), write());
        queue.oweRetry();
        assertEquals(List.of("RETRY"), write());
        assertEquals(List.of(), write());
        assertFalse(queue.owesResume());
        queue.oweResume();
        assertTrue(queue.owesResume());
        assertEquals(List.of("RESUME"), write());
        assertFalse(queue.owesResume());
        assertEquals(List.of(), write());
        queue.reject(frame(Frame.Kind.DIRECT, 5), "too long");
        assertEquals(List.of("REJECT 5 too long"), write());
        assertEquals(List.of(), write());
        queue.answer(frame(Frame.Kind.CLEAR, 6));
        assertEquals(List.of("CLEAR 6"), write());
        assertEquals(List.of(), write());
    }

    @Test
    void newerAnswerTakesThePlaceOfTheOneBefore() {
        queue.answer(frame(Frame.Kind.CLEAR, 1));
        queue.answer(frame(Frame.Kind.CLEAR, 2));
        queue.reject(frame(Frame.Kind.DIRECT, 3), "a");
        queue.reject(frame(Frame.Kind.DIRECT, 4), "b");
        queue.oweResume();
        queue.oweRetry();
        queue.oweAck();
        assertEquals(List.of("REJECT 4 b", "RETRY", "RESUME", "CLEAR 2", "ACK 8"), write());
        assertEquals(List.of(), write());
    }

    @Test
    void whatAWriteOwesAnewStands() {
        queue.oweAck();
        assertTrue(queue.write(() -> {
            queue.oweAck();
            return frame(Frame.Kind.ACK, 7);
        }));
        assertEquals(List.of("ACK 8"), write());
    }
}
