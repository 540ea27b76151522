// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.heap;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

/// What takes heap is found, on whatever thread it runs.
class HeapCostTest {

    private volatile Object last = "";

    @Test
    void workThatTakesHeapIsFound() {
        assertTrue(failure(Thread.ofPlatform().factory()).startsWith("work takes more heap than it may: bytesARound="));
    }

    @Test
    void threadThatIsNotMeasuredIsRefused() {
        assertTrue(failure(Thread.ofVirtual().factory())
                .startsWith("heap of this thread is not measured: thread=VirtualThread"));
    }

    private String failure(ThreadFactory threads) {
        AssertionError failure =
                assertThrows(AssertionError.class, () -> HeapCost.atMost(0, threads, () -> last = new byte[1000]));
        return String.valueOf(failure.getMessage());
    }
}
