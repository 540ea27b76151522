// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// What a receiver lets come, and when it tells its sender that more may.
class CreditTest {

    private static final int HEADER = Credit.HEADER;
    private static final int WINDOW = 64 * HEADER;

    private final Credit credit = new Credit(WINDOW);

    @Test
    void messagesComeUpToTheWindow() {
        credit.arrived(1000 - HEADER);
        assertEquals(1000, credit.held());
        assertTrue(credit.admits(WINDOW - 1000 - HEADER, 0));
        assertFalse(credit.admits(WINDOW - 1000 - HEADER + 1, 0));
        credit.consume(500);
        assertEquals(500, credit.held());
        assertTrue(credit.admits(WINDOW - 500 - HEADER, 0));
        assertFalse(credit.admits(WINDOW - 500 - HEADER + 1, 0));
    }

    @Test
    void messageThatIsLargerThanTheWindowComesAlone() {
        assertTrue(credit.admits(10 * WINDOW, 0));
        credit.arrived(0);
        assertFalse(credit.admits(10 * WINDOW, 0));
        credit.consume(HEADER);
        assertTrue(credit.admits(10 * WINDOW, 0));
    }

    @Test
    void firstBroadcastOfADepthAlwaysComes() {
        credit.arrived(WINDOW - HEADER);
        assertFalse(credit.admits(0, 0));
        assertTrue(credit.admits(0, 1));
        credit.hold(1);
        assertFalse(credit.admits(0, 1));
        assertTrue(credit.admits(0, 7));
        assertEquals(0b1111_1100, credit.empty());
        credit.hold(7);
        assertEquals(0b0111_1100, credit.empty());
        credit.consume(0, 1);
        assertEquals(0b0111_1110, credit.empty());
        assertTrue(credit.admits(0, 1));
    }

    @Test
    void senderIsToldOfAQuarterOfTheWindow() {
        credit.arrived(WINDOW);
        assertFalse(credit.consume(WINDOW / 4 - 1));
        assertTrue(credit.consume(1));
        assertEquals(WINDOW + WINDOW / 4, credit.tell());
        assertFalse(credit.consume(WINDOW / 4 - 1), "of what was told already it is not told again");
    }

    @Test
    void senderThatWaitsIsToldOfASixteenthAndOfTheLast() {
        for (int i = 0; i < 6; i++) {
            credit.arrived(0);
        }
        assertFalse(credit.want(true), "there is no more than it knows");
        for (int i = 0; i < 3; i++) {
            assertFalse(credit.consume(HEADER), "message " + i);
        }
        assertTrue(credit.consume(HEADER), "a sixteenth");
        credit.tell();
        assertFalse(credit.consume(HEADER));
        assertTrue(credit.consume(HEADER), "nothing is held any more");
        credit.tell();
        assertFalse(credit.consume(0), "it was told all");
    }

    @Test
    void senderThatWaitsIsToldOfTheLastBroadcastOfADepth() {
        credit.arrived(WINDOW);
        credit.hold(2);
        credit.hold(2);
        credit.want(true);
        assertFalse(credit.consume(1, 2), "another one is held");
        assertTrue(credit.consume(1, 2));
        assertFalse(credit.consume(1, 0), "no broadcast");
        credit.want(false);
        credit.hold(2);
        assertFalse(credit.consume(1, 2), "it does not wait");
    }

    @Test
    void broadcastIsConsumedAsAnyMessage() {
        credit.arrived(WINDOW - HEADER);
        credit.hold(1);
        credit.hold(1);
        assertTrue(credit.consume(WINDOW / 4, 1), "a quarter of the window");
        assertEquals(WINDOW - WINDOW / 4, credit.held());
        credit.tell();
        assertFalse(credit.consume(WINDOW / 4 - 1, 1));
        assertEquals(WINDOW / 2 + 1, credit.held());
    }

    @Test
    void senderThatBeginsToWaitIsToldWhatItDoesNotKnow() {
        credit.arrived(0);
        credit.consume(HEADER);
        assertFalse(credit.want(false));
        assertTrue(credit.want(true));
        credit.tell();
        assertFalse(credit.want(true));
    }

    @Test
    void senderWaitsUntilItSaysSomethingElse() {
        credit.arrived(WINDOW);
        credit.want(true);
        credit.want(false);
        assertFalse(credit.consume(WINDOW / 16));
        credit.want(true);
        assertTrue(credit.consume(1));
    }

    @Test
    void senderMayWaitBeforeAnythingOfItsHasArrived() {
        credit.want(true);
        credit.arrived(WINDOW);
        assertTrue(credit.consume(WINDOW / 16));
        Credit deep = new Credit(WINDOW);
        deep.want(true);
        deep.hold(2);
        assertTrue(deep.consume(1, 2));
        Credit other = new Credit(WINDOW);
        other.want(true);
        other.want(false);
        other.arrived(WINDOW);
        assertFalse(other.consume(WINDOW / 16), "it does not wait any more");
    }

    @Test
    void messageOfNoDepthIsNoNewsOfItself() {
        credit.arrived(WINDOW);
        credit.want(true);
        credit.hold(0);
        assertFalse(credit.consume(1, 0));
    }

    @Test
    void nothingIsNoNewsInASmallWindow() {
        Credit small = new Credit(3);
        assertFalse(small.consume(0));
        assertTrue(small.consume(1));
    }

    @Test
    void creditIsLowAtHalfAWindow() {
        credit.arrived(WINDOW / 2 - HEADER - 1);
        assertFalse(credit.isLow());
        credit.arrived(1 - HEADER);
        assertTrue(credit.isLow());
    }
}
