// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import io.bulla.testkit.heap.FullHeapRun;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Operations of the registration cache in a JVM of their own whose heap is full.
class RegistrationHeapFaultTest {

    @Test
    @Tag("faults")
    void operationsKeepTheirPromisesOnAFullHeap() throws IOException, InterruptedException {
        FullHeapRun.check(RegistrationCalls.class, "heap-registration", 32, Long.getLong("bulla.seed", 1), 20, "");
    }
}
