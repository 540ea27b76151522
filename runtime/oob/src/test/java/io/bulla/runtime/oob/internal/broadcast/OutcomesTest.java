// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import org.junit.jupiter.api.Test;

/// What is kept of broadcasts that are over does not grow with their number times that of the failed ranks.
class OutcomesTest {

    @Test
    void broadcastsThatFailAtTheSameRanksShareTheList() {
        Outcomes outcomes = new Outcomes();
        for (int number = 0; number < 5000; number++) {
            outcomes.put(new BroadcastKey(0, 1, number), number, List.of(700, 800));
        }
        assertNull(outcomes.get(new BroadcastKey(0, 1, 903)), "the eldest go");
        Outcomes.Kept first = outcomes.get(new BroadcastKey(0, 1, 904));
        Outcomes.Kept last = outcomes.get(new BroadcastKey(0, 1, 4999));
        assertEquals(new Outcomes.Kept(904, List.of(700, 800)), first);
        assertEquals(4999, last.reached());
        assertSame(first.failed(), last.failed());
    }
}
