// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.bypass;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.bulk.BulkLanding;
import io.bulla.runtime.oob.bulk.BulkLine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/// A line that writes down what it is asked, and answers as a test says.
final class FakeLine implements BulkLine {

    /// Of ten bytes, whatever was asked for.
    final class Landing implements BulkLanding {

        final long byteSize;
        boolean sealed;
        boolean closed;

        Landing(long byteSize) {
            this.byteSize = byteSize;
        }

        @Override
        public long key() {
            return 77;
        }

        @Override
        public long target() {
            return 88;
        }

        @Override
        public SealedBuffer seal() throws IOException {
            sealed = true;
            if (sealFails) {
                throw new IOException("device has not let go");
            }
            return SealedBuffer.adopt(MemorySegment.ofArray(new byte[10]), () -> {});
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    final List<Landing> landings = new ArrayList<>();
    final List<String> writes = new ArrayList<>();
    CompletableFuture<Void> written = new CompletableFuture<>();
    byte @Nullable [] connected;
    boolean connectFails;
    boolean takesNothing;
    boolean hasNoRoom;
    boolean writeFails;
    boolean sealFails;
    boolean closeThrows;
    int closes;

    @Override
    public byte[] address() {
        return new byte[] {1, 2, 3};
    }

    @Override
    public void connect(byte[] peersAddress) throws IOException {
        if (connectFails) {
            throw new IOException("no address of this device");
        }
        connected = peersAddress;
    }

    @Override
    public boolean takes(SealedBuffer buffer) {
        return !takesNothing;
    }

    @Override
    public BulkLanding land(long byteSize) throws IOException {
        if (hasNoRoom) {
            throw new IOException("no room");
        }
        landings.add(new Landing(byteSize));
        return landings.getLast();
    }

    @Override
    public CompletionStage<Void> write(SealedBuffer buffer, long key, long target) throws IOException {
        if (writeFails) {
            throw new IOException("device refuses");
        }
        writes.add(buffer.byteSize() + " key=" + key + " target=" + target);
        return written;
    }

    @Override
    public void close() {
        closes++;
        if (closeThrows) {
            throw new IllegalStateException("thrown by the test");
        }
    }
}
