// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.NioViews;
import io.bulla.interop.netty.SealedByteBuf;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A message as it goes over the wire: frames, one behind the other (RFC 6455, 5.2).
///
/// ```
/// FIN RSV1 0 0 opcode | 0 length (7 bits)          | payload     length < 126
///                     | 0 126  length (16 bits)    | payload     length < 65536
///                     | 0 127  length (64 bits)    | payload
/// ```
///
/// A server's frame has no mask, so the bytes are the same for every client. The first frame has the opcode and RSV1,
/// the last one FIN, those between neither.
///
/// @param frames all of them
/// @param views of the only frame, if it goes to many channels
/// @param ends where each frame ends, in bytes
record Wire(SealedBuffer frames, @Nullable NioViews views, long... ends) implements AutoCloseable {

    private static final int FIN = 0x80;
    private static final int RSV1 = 0x40;
    private static final int SHORT = 126;
    private static final int LONG = 127;
    private static final int LONGEST_HEADER = 10;
    /// Up to here header and payload are one region: a gather entry more takes longer than this copy, made once.
    private static final long COPY_BELOW = 16 << 10;

    /// @param payload open; it stays the caller's
    /// @param fragment the most bytes of a frame's payload
    static Wire of(MemorySource memory, int opcode, boolean compressed, SealedBuffer payload, long fragment) {
        long size = payload.byteSize();
        int count = Math.toIntExact(Math.max(1, Math.ceilDiv(size, fragment)));
        long[] ends = new long[count];
        List<SealedBuffer> parts = new ArrayList<>(2 * count);
        return Parts.into(parts, () -> {
            long end = 0;
            for (int i = 0; i < count; i++) {
                long from = i * fragment;
                long length = Math.min(fragment, size - from);
                int first = (i == 0 ? opcode | (compressed ? RSV1 : 0) : 0) | (i == count - 1 ? FIN : 0);
                boolean copied = length <= COPY_BELOW;
                parts.add(copied ? copied(memory, first, payload, from, length) : header(memory, first, length));
                end += parts.getLast().byteSize();
                if (!copied) {
                    parts.add(payload.slice(from, length));
                    end += length;
                }
                ends[i] = end;
            }
            return viewed(SealedBuffer.concat(parts.toArray(SealedBuffer[]::new)), ends);
        });
    }

    /// @param frames this one's, and closed if this fails
    private static Wire viewed(SealedBuffer frames, long... ends) {
        try {
            boolean whole = ends.length == 1 && frames.byteSize() <= Integer.MAX_VALUE;
            return new Wire(frames, whole ? NioViews.of(frames) : null, ends);
        } catch (Throwable failure) {
            frames.close();
            throw failure;
        }
    }

    private static SealedBuffer copied(MemorySource memory, int first, SealedBuffer payload, long from, long length) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, LONGEST_HEADER + length)) {
            putHeader(builder, first, length);
            return builder.put(payload.iovec().slice(from, length)).seal();
        }
    }

    private static SealedBuffer header(MemorySource memory, int first, long length) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, LONGEST_HEADER)) {
            putHeader(builder, first, length);
            return builder.seal();
        }
    }

    private static void putHeader(BufferBuilder builder, int first, long length) {
        builder.putByte((byte) first);
        if (length < SHORT) {
            builder.putByte((byte) length);
        } else if (length <= 0xffff) {
            builder.putByte((byte) SHORT).putShort((short) length);
        } else {
            builder.putByte((byte) LONG).putLong(length);
        }
    }

    /// One form of a buffer of forms: the first, or the second if it is there and wanted.
    ///
    /// @param forms one behind the other; the handle stays the caller's
    /// @return with a handle of the caller's
    static Wire chosen(SealedBuffer forms, boolean second) {
        BufferReader reader = BufferReader.of(forms);
        long[] ends = ends(reader);
        long from = 0;
        if (second && reader.hasRemaining()) {
            from = reader.position();
            ends = ends(reader);
        }
        long size = reader.position() - from;
        for (int i = 0; i < ends.length; i++) {
            ends[i] -= from;
        }
        return held(size == forms.byteSize() ? forms.share() : forms.slice(from, size), ends);
    }

    /// Passes over the frames of a message, and says where each ends.
    private static long[] ends(BufferReader reader) {
        long[] ends = new long[1];
        int count = 0;
        boolean last;
        do {
            last = (reader.getByte() & FIN) != 0;
            int length = reader.getUnsignedByte();
            reader.skip(
                    switch (length) {
                        case SHORT -> reader.getUnsignedShort();
                        case LONG -> reader.getLong();
                        default -> length;
                    });
            ends = count < ends.length ? ends : Arrays.copyOf(ends, 2 * count);
            ends[count++] = reader.position();
        } while (!last);
        return count == ends.length ? ends : Arrays.copyOf(ends, count);
    }

    boolean isOneFrame() {
        return ends.length == 1;
    }

    /// @return with a handle of the caller's
    Wire share() {
        return held(frames.share(), ends);
    }

    /// @param frames this one's, and closed if this fails
    private static Wire held(SealedBuffer frames, long... ends) {
        try {
            return new Wire(frames, null, ends);
        } catch (Throwable noHeap) {
            frames.close();
            throw noHeap;
        }
    }

    /// The only frame for another channel.
    ///
    /// @return to be released
    ByteBuf bytes() {
        return views == null ? SealedByteBuf.share(frames) : SealedByteBuf.share(frames, views);
    }

    @Override
    public void close() {
        frames.close();
    }
}
