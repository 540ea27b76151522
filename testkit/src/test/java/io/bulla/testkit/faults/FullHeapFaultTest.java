// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.testkit.heap.FullHeapRun;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Public operations in a JVM of their own whose heap is full. `./check faults` runs all of them.
@Tag("faults")
class FullHeapFaultTest {

    @ParameterizedTest
    @CsvSource({"16, 1, SealedBuffer.share", "16, 2, BufferBuilder.seal", "32, 3, Lease.", "16, 4, Packer.packString"})
    void operationsKeepTheirPromisesInAFullHeap(int megabytes, long seed, String operations)
            throws IOException, InterruptedException {
        FullHeapRun.check(Catalogues.class, "part-of-heap", megabytes, seed, 3600, operations);
    }

    @Test
    void firstFailuresOfAProcessKeepThemToo() throws IOException, InterruptedException {
        FullHeapRun.checkFirst(Catalogues.class, "heap-first", 16, Long.getLong("bulla.seed", 1), 20, "");
    }
}
