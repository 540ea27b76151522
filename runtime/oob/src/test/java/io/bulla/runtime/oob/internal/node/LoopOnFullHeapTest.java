// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.runtime.oob.SmallHeap;
import org.junit.jupiter.api.Test;

/// An event loop in a JVM of its own whose heap is full.
class LoopOnFullHeapTest {

    @Test
    void firstFailureOfAProcessEndsNoLoop() throws Exception {
        assertEquals(
                "next=runs",
                SmallHeap.run(LoopOnFullHeap.class).lines().toList().getLast());
    }
}
