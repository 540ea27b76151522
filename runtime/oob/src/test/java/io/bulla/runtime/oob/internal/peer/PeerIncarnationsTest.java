// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// Which of two processes of a rank is the peer.
class PeerIncarnationsTest {

    private static final String UNKNOWN = "its session is over: it was restarted, or had given this node up";

    private final PeerIncarnations incarnations = new PeerIncarnations();

    @Test
    void latestProcessIsThePeer() {
        assertEquals(0, incarnations.now());
        assertTrue(incarnations.take(5, false));
        assertEquals(5, incarnations.now());
        for (int again = 0; again < 3; again++) {
            assertTrue(incarnations.take(5, true), "the same one again");
        }
        assertTrue(incarnations.take(6, true), "a restart, before the end of the connection is seen");
        assertEquals(6, incarnations.now());
    }

    @Test
    void processThatWasReplacedIsRefusedBesideTheOneThatReplacedIt() {
        incarnations.take(5, false);
        incarnations.take(6, false);
        assertFalse(incarnations.take(5, true));
        assertEquals(6, incarnations.now());
        assertTrue(incarnations.take(6, true), "the refusal has changed nothing");
        // without a connection there is no other one to be beside of
        assertTrue(incarnations.take(5, false));
        assertEquals(5, incarnations.now());
        assertFalse(incarnations.take(6, true), "now that one was replaced");
        assertTrue(incarnations.take(5, true));
    }

    @Test
    void processThatCameBackIsNoFormerOne() {
        incarnations.take(5, false);
        incarnations.take(6, false);
        incarnations.take(5, false);
        // seven more and the one before them: of eight former ones none is 5, which is known still
        for (int other = 10; other < 17; other++) {
            incarnations.take(other, false);
        }
        assertFalse(incarnations.take(6, true), "the first of eight");
        assertFalse(incarnations.take(5, true));
    }

    @Test
    void eightFormerOnesAreKnown() {
        for (int each = 1; each <= 10; each++) {
            assertTrue(incarnations.take(each, false));
        }
        for (int former = 2; former <= 9; former++) {
            assertFalse(incarnations.take(former, true), "former " + former);
        }
        assertTrue(incarnations.take(1, true), "forgotten: taken for a new one");
    }

    @Test
    void endOfASessionIsARestartOrAVerdictWhereThatIsKnown() {
        assertEquals(UNKNOWN, incarnations.whyOver(0));
        assertEquals(UNKNOWN, incarnations.whyOver(5), "it was never heard");
        incarnations.take(5, false);
        assertEquals(UNKNOWN, incarnations.whyOver(0), "it does not say");
        assertEquals("it had given this node up", incarnations.whyOver(5));
        assertEquals("it was restarted", incarnations.whyOver(6));
    }
}
