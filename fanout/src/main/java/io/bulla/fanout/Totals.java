// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import java.util.concurrent.atomic.LongAdder;

/// The counters of a fan-out, which many threads add to.
final class Totals {

    final LongAdder published = new LongAdder();
    final LongAdder sent = new LongAdder();
    final LongAdder droppedMessages = new LongAdder();
    final LongAdder droppedSubscribers = new LongAdder();
    final LongAdder failedSubscribers = new LongAdder();
    final LongAdder waits = new LongAdder();

    FanoutFigures figures(int subscribers) {
        return new FanoutFigures(
                subscribers,
                published.sum(),
                sent.sum(),
                droppedMessages.sum(),
                droppedSubscribers.sum(),
                failedSubscribers.sum(),
                waits.sum());
    }
}
