// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import java.util.concurrent.atomic.LongAdder;

/// Counts handles that were closed because gRPC did not close them. Many threads add to it.
final class CallTotals {

    final LongAdder forgotten = new LongAdder();
    final LongAdder undelivered = new LongAdder();

    void forgot(int messages) {
        forgotten.add(messages);
    }

    void closeUndelivered(SealedBuffer message) {
        try {
            // a counter that is contended takes heap
            undelivered.increment();
        } finally {
            message.close();
        }
    }
}
