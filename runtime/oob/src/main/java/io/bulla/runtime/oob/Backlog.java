// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.runtime.oob.wire.Frame;
import java.util.concurrent.atomic.AtomicLong;

/// What has arrived from one peer and waits for the handlers: beyond a bound, the peer is not read until half
/// of it is handled.
///
/// Ordering: whoever takes the backlog below half its bound and sees the pause asks the loop to resume; the loop
/// shows the pause before it looks once more. One of the two sees the other.
final class Backlog {

    private final NodeLoop nodeLoop;
    private final long bound;
    private final AtomicLong bytes = new AtomicLong();
    // volatile: see the ordering
    private volatile boolean paused;
    // the loop's
    private Connection connection;

    Backlog(NodeLoop nodeLoop, long bound) {
        this.nodeLoop = nodeLoop;
        this.bound = bound;
    }

    long bytes() {
        // volatile: a snapshot
        return bytes.get();
    }

    boolean isPaused() {
        return paused;
    }

    /// From now on the peer is read from here, or, with `null`, from nowhere.
    void readFrom(Connection now) {
        connection = now;
        if (now != null && paused) {
            now.pause(true);
        }
    }

    /// A message goes to the handlerExecutor.
    void add(long message) {
        // volatile: see the ordering
        if (bytes.addAndGet(Frame.BYTES + message) > bound && !paused && connection != null) {
            paused = true;
            connection.pause(true);
            resumeIfCaughtUp();
        }
    }

    /// A message has left the handlerExecutor. Any thread.
    void remove(long message) {
        // volatile: see the ordering
        if (bytes.addAndGet(-Frame.BYTES - message) <= bound / 2 && paused) {
            nodeLoop.onLoop(this::resumeIfCaughtUp);
        }
    }

    private void resumeIfCaughtUp() {
        // volatile: see the ordering
        if (paused && bytes.get() <= bound / 2) {
            paused = false;
            if (connection != null) {
                connection.pause(false);
            }
        }
    }
}
