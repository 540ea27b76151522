// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.testkit.heap.FullHeapRun;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Operations of checkpoints in a JVM of their own whose heap is full.
class CheckpointHeapFaultTest {

    @Test
    @Tag("faults")
    void operationsKeepTheirPromisesOnAFullHeap() throws IOException, InterruptedException {
        FullHeapRun.check(CheckpointCalls.class, "heap-checkpoint", 32, Long.getLong("bulla.seed", 1), 20, "");
    }

    @Test
    @Tag("faults")
    void firstFailuresOfAProcessKeepThemToo() throws IOException, InterruptedException {
        FullHeapRun.checkFirst(
                CheckpointCalls.class, "heap-first-checkpoint", 32, Long.getLong("bulla.seed", 1), 20, "restore");
    }
}
