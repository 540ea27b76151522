// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetryPauseTest {

    private final RetryPause pause = new RetryPause(5, 30);

    @Test
    void whatFailsAgainWaitsTwiceAsLong() {
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            pauses.add(pause.nanos());
            pause.tried(100 * i, false);
        }
        assertEquals(List.of(5L, 10L, 20L, 30L, 30L), pauses);
    }

    @Test
    void isOverAfterThatTime() {
        pause.tried(1000, false);
        assertFalse(pause.isOver(1009));
        assertTrue(pause.isOver(1010));
    }

    @Test
    void startsAgainWhenSomethingWorksOrElseFails() {
        pause.tried(1000, false);
        pause.tried(2000, true);
        assertEquals(5, pause.nanos());
        pause.tried(3000, false);
        pause.restart();
        assertEquals(5, pause.nanos());
    }
}
