// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/// How long a sender waits before it sends all again.
class MemoryShortageTest {

    private static final long MILLI = 1_000_000;

    @Test
    @SuppressWarnings("NullAway") // a pause asks neither the loop nor the session
    void pauseDoublesUntilAMessageIsTakenIn() {
        MemoryShortage shortage = new MemoryShortage(null, 3, null);
        for (int round = 0; round < 2; round++) {
            for (long pause : new long[] {10, 20, 40, 80, 160, 320, 640, 640, 640}) {
                assertEquals(pause * MILLI, shortage.pauseNanos());
            }
            shortage.isOver();
        }
    }
}
