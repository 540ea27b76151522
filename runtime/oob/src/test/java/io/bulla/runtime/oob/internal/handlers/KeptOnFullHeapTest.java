// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.runtime.oob.SmallHeap;
import org.junit.jupiter.api.Test;

/// Messages without a receiver, in a JVM of their own whose heap is full.
class KeptOnFullHeapTest {

    @Test
    void messageThatCannotBeKeptLosesNoOther() throws Exception {
        assertEquals("refused=true lost=0", SmallHeap.run(KeptOnFullHeap.class));
    }
}
