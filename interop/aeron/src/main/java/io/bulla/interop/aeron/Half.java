// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.logbuffer.FrameDescriptor;
import io.aeron.logbuffer.Header;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// The fragments so far of one message. Its lock hands the builder from the thread that polls to one that gives
/// up.
final class Half {

    private static final long NOWHERE = -1;

    private final BufferBuilder builder;
    private long nextPosition = NOWHERE;
    private boolean ended;

    Half(BufferBuilder builder) {
        this.builder = builder;
    }

    /// @return the whole message if this is its last fragment; otherwise, or if it was given up, `null`
    synchronized @Nullable SealedBuffer add(DirectBuffer buffer, int offset, int length, Header header, long limit) {
        if (ended) {
            return null;
        }
        long position = header.position();
        long start = position - BitUtil.align(header.frameLength(), FrameDescriptor.FRAME_ALIGNMENT);
        if (nextPosition != NOWHERE && nextPosition != start) {
            // on an unreliable stream Aeron steps over what was lost
            throw new IllegalStateException("fragment missing: sessionId=" + header.sessionId() + " received="
                    + builder.byteSize() + " expectedPosition=" + nextPosition + " position=" + start);
        }
        long before = builder.byteSize();
        checkLimit(before, length, limit);
        // all of it or nothing: it may come again
        builder.put(AgronaMemory.of(buffer, offset, length));
        boolean last = (header.flags() & FrameDescriptor.END_FRAG_FLAG) != 0;
        SealedBuffer message = last ? sealed(header.sessionId()) : null;
        nextPosition = position;
        ended = last;
        return message;
    }

    /// A seal that failed has ended the builder: the fragments before the last one do not come again, so this is not
    /// told as a lack of memory, which would have the last one come again.
    private SealedBuffer sealed(int sessionId) {
        long received = builder.byteSize();
        try {
            return builder.seal();
        } catch (RuntimeException failure) {
            throw new IllegalStateException(
                    "message cannot be sealed: sessionId=" + sessionId + " received=" + received, failure);
        }
    }

    synchronized void close() {
        ended = true;
        builder.close();
    }

    static void checkLimit(long before, int length, long limit) {
        if (length > limit - before) {
            throw new IllegalArgumentException(
                    "message too long: received=" + before + " fragment=" + length + " limit=" + limit);
        }
    }
}
