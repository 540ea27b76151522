// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MarkStateTest {

    private final MarkState state = new MarkState();

    @Test
    void noUseBeforeItIsLiveAndNoneAfterItWasStopped() {
        assertFalse(state.tryUse());
        assertTrue(state.live());
        assertTrue(state.tryUse());
        assertFalse(state.stop());
        assertFalse(state.tryUse());
        assertTrue(state.endUse());
        assertFalse(state.tryUse());
        assertEquals("closing", state.toString());
    }

    @Test
    void onlyAnIdleOneIsEvictedAndOnce() {
        assertFalse(state.tryEvict());
        state.live();
        state.tryUse();
        assertFalse(state.tryEvict());
        assertFalse(state.endUse());
        assertTrue(state.tryEvict());
        assertFalse(state.tryEvict());
        assertFalse(state.stop());
    }

    @Test
    void oneThatIsStoppedWhileItIsRegisteredIsClosedByItsThread() {
        assertFalse(state.stop());
        assertFalse(state.stop());
        assertFalse(state.live());
        assertEquals("closing", state.toString());
        assertTrue(state.free());
    }

    @Test
    void memoryIsFreeOnceAndNotUnasked() {
        assertFalse(state.free());
        state.live();
        assertFalse(state.free());
        assertTrue(state.stop());
        assertTrue(state.free());
        assertFalse(state.free());
        assertEquals("gone", state.toString());
    }

    @Test
    void refusedOneIsGone() {
        assertFalse(state.isGone());
        state.refused();
        assertTrue(state.isGone());
        assertFalse(state.stop());
        assertFalse(state.free());
    }

    @Test
    void onlyTheLastUseClosesWhatIsStopped() {
        state.live();
        state.tryUse();
        state.tryUse();
        assertFalse(state.stop());
        assertFalse(state.endUse());
        assertEquals("retiring", state.toString());
        assertTrue(state.endUse());
    }

    @Test
    void useThatEndsTwiceIsTold() {
        state.live();
        state.tryUse();
        state.endUse();
        assertThrows(IllegalStateException.class, state::endUse);
    }
}
