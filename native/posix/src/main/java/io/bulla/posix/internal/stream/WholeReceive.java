// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.buffer.internal.BuilderAccess;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Receives so many bytes of a stream into a buffer.
public final class WholeReceive {

    private static final BuilderAccess<BufferBuilder> ACCESS = BuilderAccess.of(BufferBuilder.class);

    private WholeReceive() {}

    /// Waits for them.
    ///
    /// @param into where their memory is taken from; given back if this fails
    /// @return a buffer of that source, with its stamp and its listener
    /// @throws EOFException if the peer closes before
    /// @throws IOException if the system refuses
    public static SealedBuffer receive(StreamSocket from, MemorySource into, long length) throws IOException {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(into, Math.max(1, length))) {
            MemorySegment target = ACCESS.memory(builder);
            for (long done = 0; done < length; ) {
                long read = from.receive(target.asSlice(done, length - done));
                if (read < 0) {
                    throw new EOFException("connection ended: wanted=" + length + " read=" + done);
                }
                done += read;
            }
            ACCESS.advance(builder, length);
            return builder.seal();
        }
    }
}
