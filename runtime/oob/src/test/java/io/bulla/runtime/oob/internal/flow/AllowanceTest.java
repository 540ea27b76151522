// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// What a sender may begin of what its peer has granted.
class AllowanceTest {

    private static final int WINDOW = 4096;
    private static final int HEADER = Credit.HEADER;

    private final Allowance allowance = new Allowance();

    private Allowance opened() {
        allowance.open(WINDOW);
        return allowance;
    }

    @Test
    void allMayBeginUntilThePeerSaysItsWindow() {
        allowance.begin(1L << 40, 0);
        assertTrue(allowance.admits(1L << 40, 0));
    }

    @Test
    void eachDepthLeavesRoomForTheDeeperOnes() {
        opened().begin(0, 0);
        for (int depth = 0; depth < Allowance.CLASSES; depth++) {
            // the first of a depth may always go
            allowance.begin(-HEADER, depth);
            long room = WINDOW - (WINDOW >> depth + 1) - 2 * HEADER;
            assertTrue(allowance.admits(room, depth), "depth " + depth);
            assertFalse(allowance.admits(room + 1, depth), "depth " + depth);
        }
    }

    @Test
    void onlyOneOfADepthGoesBeyond() {
        opened().begin(WINDOW, 0);
        assertFalse(allowance.admits(0, 0));
        assertTrue(allowance.admits(0, 1));
        allowance.begin(0, 1);
        assertFalse(allowance.admits(0, 1));
        assertTrue(allowance.admits(0, 2));
        allowance.acknowledged(1);
        assertTrue(allowance.admits(0, 1));
        assertTrue(allowance.grant(WINDOW, 0b100));
        assertFalse(allowance.admits(0, 1), "the peer holds one");
        assertTrue(allowance.admits(0, 2));
        assertFalse(allowance.admits(0, 3));
    }

    @Test
    void largeMessageGoesWhenThePeerHasConsumedAll() {
        assertTrue(opened().admits(10 * WINDOW, 0));
        allowance.begin(10 * WINDOW, 0);
        assertFalse(allowance.admits(0, 0));
        assertTrue(allowance.grant(WINDOW + 10 * WINDOW, -1));
        assertFalse(allowance.admits(10 * WINDOW, 0), "its header is not consumed");
        assertTrue(allowance.grant(WINDOW + 10 * WINDOW + HEADER, -1));
        assertTrue(allowance.admits(10 * WINDOW, 0));
    }

    @Test
    void acknowledgedMessageIsHeldUntilItIsConsumed() {
        opened().begin(WINDOW, 0);
        allowance.acknowledged(0);
        assertFalse(allowance.admits(0, 0));
        assertTrue(allowance.grant(WINDOW + WINDOW + HEADER, -1));
        assertTrue(allowance.admits(0, 0));
    }

    @Test
    void peerCannotHaveConsumedWhatWasNotSent() {
        opened().begin(0, 0);
        assertTrue(allowance.grant(WINDOW + HEADER, -1));
        assertFalse(allowance.grant(WINDOW + HEADER + 1, -1));
        assertEquals(WINDOW + HEADER, allowance.limit());
    }

    @Test
    void grantThatIsLateTakesNothingBack() {
        opened().begin(0, 0);
        allowance.grant(WINDOW + HEADER, -1);
        assertTrue(allowance.grant(WINDOW, -1));
        assertEquals(WINDOW + HEADER, allowance.limit());
    }

    @Test
    void newConnectionKnowsNothingOfWhatThePeerHolds() {
        opened().reconnected();
        allowance.begin(WINDOW, 0);
        assertTrue(allowance.admits(0, 1), "nothing had begun");
        allowance.reconnected();
        assertFalse(allowance.admits(0, 1));
        allowance.grant(WINDOW, 0b10);
        assertTrue(allowance.admits(0, 1));
    }

    @Test
    void windowIsThatOfTheStart() {
        opened().begin(0, 0);
        allowance.open(2 * WINDOW);
        assertEquals(WINDOW, allowance.limit());
        allowance.reset();
        allowance.open(2 * WINDOW);
        assertEquals(2 * WINDOW, allowance.limit());
    }

    @Test
    void nextSessionBeginsAnew() {
        opened().begin(WINDOW, 1);
        allowance.grant(WINDOW + 10, 0);
        allowance.reset();
        assertEquals(WINDOW, allowance.limit());
        assertTrue(allowance.admits(10 * WINDOW, 0));
        allowance.begin(WINDOW, 0);
        assertTrue(allowance.admits(0, 1), "none of its depth is on its way");
    }
}
