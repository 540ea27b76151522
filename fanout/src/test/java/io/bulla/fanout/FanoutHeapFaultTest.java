// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.testkit.heap.FullHeapRun;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Operations of fan-outs in a JVM of their own whose heap is full.
class FanoutHeapFaultTest {

    @Test
    @Tag("faults")
    void operationsKeepTheirPromisesOnAFullHeap() throws IOException, InterruptedException {
        FullHeapRun.check(FanoutCalls.class, "heap-fanout", 32, Long.getLong("bulla.seed", 1), 20, "");
    }
}
