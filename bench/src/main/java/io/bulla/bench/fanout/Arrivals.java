// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.fanout;

import java.nio.ByteBuffer;

/// What has arrived at the peers: counted always, and compared as long as it is asked for.
final class Arrivals {

    private final ByteBuffer message;
    private final long[] at;
    private long total;
    private boolean compared;

    Arrivals(Message message, int peers) {
        this.message = ByteBuffer.wrap(message.bytes());
        this.at = new long[peers];
    }

    void compare(boolean yes) {
        compared = yes;
    }

    /// @param bytes as they came; their position stays
    void took(int peer, ByteBuffer bytes) {
        int count = bytes.remaining();
        if (compared) {
            check(peer, bytes, count);
        }
        at[peer] += count;
        total += count;
    }

    /// Of all peers.
    long total() {
        return total;
    }

    private void check(int peer, ByteBuffer bytes, int count) {
        for (int done = 0; done < count; ) {
            int from = (int) ((at[peer] + done) % message.limit());
            int part = Math.min(count - done, message.limit() - from);
            if (bytes.slice(bytes.position() + done, part).mismatch(message.slice(from, part)) >= 0) {
                throw new IllegalStateException("other bytes arrived: peer=" + peer + " at=" + (at[peer] + done));
            }
            done += part;
        }
    }
}
