// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.testkit.heap.FullHeapRun;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Handles of calls in a JVM of their own whose heap is full. To end a call takes heap of gRPC's, so broadcasts,
/// which have to end calls, are not among them.
class CallHandlesHeapFaultTest {

    @Test
    @Tag("faults")
    void operationsKeepTheirPromisesOnAFullHeap() throws IOException, InterruptedException {
        FullHeapRun.check(GrpcCalls.class, "heap-grpc", 32, Long.getLong("bulla.seed", 1), 20, "CallHandles");
    }
}
