// SPDX-License-Identifier: Apache-2.0
package io.bulla.fanout;

import io.bulla.buffer.SealedBuffer;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/// A transport that counts its calls, and a message that counts how often it is given back.
final class Counted implements Subscriber {

    final AtomicInteger sent = new AtomicInteger();
    final AtomicInteger ends = new AtomicInteger();
    final AtomicInteger releases = new AtomicInteger();
    private final boolean ready;

    Counted(boolean ready) {
        this.ready = ready;
    }

    SealedBuffer message() {
        return SealedBuffer.adopt(MemorySegment.ofArray(new byte[8]), releases::incrementAndGet);
    }

    /// @return 1 if it went out, 0 if the fan-out was over before
    static int publish(Fanout feed, SealedBuffer message) {
        try {
            feed.publish(message);
            return 1;
        } catch (IllegalStateException over) {
            return 0;
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
    }

    @Override
    public boolean isReady() {
        return ready;
    }

    @Override
    public void send(SealedBuffer message) {
        sent.incrementAndGet();
    }

    @Override
    public void close(End why) {
        ends.incrementAndGet();
    }
}
