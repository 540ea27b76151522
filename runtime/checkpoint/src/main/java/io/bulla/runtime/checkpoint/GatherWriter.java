// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.security.MessageDigest;
import java.util.ArrayDeque;

/// Hands buffers to a channel where they are, many at once, and digests them.
final class GatherWriter {

    // what Linux takes at once is 1024 buffers
    private static final int MOST_BUFFERS = 512;
    private static final long MOST_BYTES = 1 << 20;

    private final GatheringByteChannel channel;
    private final MessageDigest digest = Digests.sha256();
    private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>(MOST_BUFFERS);
    private long waitingBytes;
    private long bytes;

    GatherWriter(GatheringByteChannel channel) {
        this.channel = channel;
    }

    /// The memory has to stay until the next [#flush].
    void put(ByteBuffer next) throws IOException {
        digest.update(next.duplicate());
        waiting.add(next);
        waitingBytes += next.remaining();
        bytes += next.remaining();
        if (waiting.size() >= MOST_BUFFERS || waitingBytes >= MOST_BYTES) {
            flush();
        }
    }

    void flush() throws IOException {
        ByteBuffer[] all = waiting.toArray(ByteBuffer[]::new);
        waiting.clear();
        int first = 0;
        while (waitingBytes > 0) {
            long written = channel.write(all, first, all.length - first);
            if (written <= 0) {
                throw new IOException("channel takes no more: remaining=" + waitingBytes);
            }
            waitingBytes -= written;
            while (first < all.length && !all[first].hasRemaining()) {
                first++;
            }
        }
    }

    long bytes() {
        return bytes;
    }

    /// Once.
    String sha256() {
        return Digests.text(digest);
    }
}
