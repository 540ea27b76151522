// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.buffer.SealedBuffer;
import java.util.concurrent.atomic.LongAdder;

/// What was closed because gRPC did not, which many threads add to.
final class CallTotals {

    final LongAdder forgotten = new LongAdder();
    final LongAdder undelivered = new LongAdder();

    void forgot(int messages) {
        forgotten.add(messages);
    }

    void closeUndelivered(SealedBuffer message) {
        undelivered.increment();
        message.close();
    }
}
