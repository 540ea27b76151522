// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import java.util.concurrent.atomic.LongAdder;

/// The counters of a broadcast, which many threads add to.
final class Totals {

    final LongAdder published = new LongAdder();
    final LongAdder sent = new LongAdder();
    final LongAdder droppedMessages = new LongAdder();
    final LongAdder droppedStreams = new LongAdder();
    final LongAdder failedStreams = new LongAdder();
    final LongAdder waits = new LongAdder();

    BroadcastFigures figures(int streams) {
        return new BroadcastFigures(
                streams,
                published.sum(),
                sent.sum(),
                droppedMessages.sum(),
                droppedStreams.sum(),
                failedStreams.sum(),
                waits.sum());
    }
}
