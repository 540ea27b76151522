// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;

/// A socket that takes and gives a few bytes at a time, and may do something in between.
public final class SlowChannel implements ReadableByteChannel, GatheringByteChannel {

    private final ByteBuffer incoming;
    private final int step;
    private final ByteArrayOutputStream outgoing = new ByteArrayOutputStream();
    private Runnable between = () -> {};

    public SlowChannel(byte[] incoming, int step) {
        this.incoming = ByteBuffer.wrap(incoming);
        this.step = step;
    }

    /// Runs `action` after each step.
    public SlowChannel between(Runnable action) {
        between = action;
        return this;
    }

    public byte[] written() {
        return outgoing.toByteArray();
    }

    @Override
    public int read(ByteBuffer target) {
        if (!incoming.hasRemaining()) {
            return -1;
        }
        int now = Math.min(step, Math.min(incoming.remaining(), target.remaining()));
        target.put(incoming.slice(incoming.position(), now));
        incoming.position(incoming.position() + now);
        between.run();
        return now;
    }

    @Override
    public int write(ByteBuffer bytes) {
        int now = Math.min(step, bytes.remaining());
        for (int i = 0; i < now; i++) {
            outgoing.write(bytes.get());
        }
        between.run();
        return now;
    }

    @Override
    public long write(ByteBuffer[] views, int offset, int length) throws IOException {
        for (int i = offset; i < offset + length; i++) {
            if (views[i].hasRemaining()) {
                return write(views[i]);
            }
        }
        return 0;
    }

    @Override
    public long write(ByteBuffer[] views) throws IOException {
        return write(views, 0, views.length);
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {}
}
