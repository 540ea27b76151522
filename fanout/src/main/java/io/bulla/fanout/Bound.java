// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// How much may wait for a subscriber, what then, and how long a publisher waits, in nanoseconds.
record Bound(int messages, long bytes, SlowPolicy slow, long patience) {

    static Bound of(int messages, long bytes, SlowPolicy slow, Duration patience) {
        return new Bound(
                slow == SlowPolicy.LATEST_ONLY ? 1 : messages, bytes, slow, TimeUnit.NANOSECONDS.convert(patience));
    }

    boolean dropsOldest() {
        return slow == SlowPolicy.DROP_OLDEST || slow == SlowPolicy.LATEST_ONLY;
    }

    /// What waits alone has room, whatever its size.
    boolean holds(int count, long size) {
        return count == 1 || count <= messages && size <= bytes;
    }
}
