// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;

/// A channel that takes as much per write as it is told, in turn and from the start again; with 0 it would block.
final class ShortChannel implements GatheringByteChannel {

    private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
    private final int[] takes;
    private int writes;

    ShortChannel(int... takes) {
        this.takes = takes;
    }

    byte[] taken() {
        return taken.toByteArray();
    }

    @Override
    public long write(ByteBuffer[] views, int offset, int length) {
        int left = takes[writes++ % takes.length];
        int before = taken.size();
        for (int i = offset; i < offset + length; i++) {
            while (left > 0 && views[i].hasRemaining()) {
                taken.write(views[i].get());
                left--;
            }
        }
        return taken.size() - before;
    }

    @Override
    public long write(ByteBuffer[] views) {
        return write(views, 0, views.length);
    }

    @Override
    public int write(ByteBuffer view) {
        return (int) write(new ByteBuffer[] {view});
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {}
}
