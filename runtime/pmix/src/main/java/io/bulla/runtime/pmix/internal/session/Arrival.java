// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.io.EOFException;
import java.io.IOException;

/// The body of a message that arrives. Takes memory as the bytes arrive, not as they are announced.
final class Arrival implements AutoCloseable {

    private static final int STEP_BYTES = 1 << 20;

    private final ServerChannel channel;
    private final long length;
    private final BufferBuilder builder;
    private long arrived;

    Arrival(ServerChannel channel, MemorySource memory, long length) {
        this.channel = channel;
        this.length = length;
        this.builder = BufferBuilder.create(memory);
    }

    SealedBuffer read() throws IOException {
        while (arrived < length) {
            int count = channel.readInto(builder, Math.min(STEP_BYTES, length - arrived));
            if (count < 0) {
                throw new EOFException("the PMIx server has closed the connection inside a message");
            }
            arrived += count;
        }
        return builder.seal();
    }

    /// Bytes that are still to come.
    long missing() {
        return length - arrived;
    }

    @Override
    public void close() {
        builder.close();
    }
}
