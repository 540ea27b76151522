// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/// A payload compressed as a message of permessage-deflate, with an empty window before it (RFC 7692, 7.2.1): a
/// receiver in any state can read it, for it refers to nothing that came before.
final class Deflated {

    // what a flush ends with, and a receiver puts back
    private static final int TAIL = 4;
    private static final int STEP = 8 << 10;
    // zlib's manual: with less than 7 bytes of room a flush says its mark again and again
    private static final int SHORTEST_STEP = 64;

    private Deflated() {}

    /// @param payload open; it stays the caller's
    /// @return `null` if it would not be shorter
    static @Nullable SealedBuffer of(MemorySource memory, int level, SealedBuffer payload) {
        long size = payload.byteSize();
        Deflater deflater = new Deflater(level, true);
        byte[] step = new byte[Math.clamp(size, SHORTEST_STEP, STEP)];
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            for (ByteBuffer region : payload.iovec().lent().asByteBuffers()) {
                deflater.setInput(region);
                while (!deflater.needsInput()) {
                    builder.put(step, 0, deflater.deflate(step));
                    if (builder.byteSize() >= size + TAIL) {
                        return null;
                    }
                }
            }
            int more;
            do {
                more = deflater.deflate(step, 0, step.length, Deflater.SYNC_FLUSH);
                builder.put(step, 0, more);
            } while (more == step.length);
            long length = builder.byteSize() - TAIL;
            if (length <= 0 || length >= size) {
                return null;
            }
            builder.truncate(length);
            return builder.seal();
        } finally {
            deflater.end();
            Reference.reachabilityFence(payload);
        }
    }
}
