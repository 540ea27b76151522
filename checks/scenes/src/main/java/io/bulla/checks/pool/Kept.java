// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.pool;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.BufferReader;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.SealedDirectBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.IoVecCursor;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.IllegalReferenceCountException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/// Everything by which a buffer can be read too late, of a buffer whose every word says which buffer and which word
/// it is.
final class Kept {

    /// The ways to read.
    static final int KINDS = 9;

    private static final int WORD = Long.BYTES;

    private final long id;
    private final int words;
    private final SealedBuffer handle;
    private final IoVec vec;
    private final IoVec part;
    private final int partAt;
    private final ByteBuf netty;
    private final ByteBuf message;

    private Kept(long id, int words, SealedBuffer handle, EmbeddedChannel channel, int partAt) {
        this.id = id;
        this.words = words;
        this.handle = handle;
        this.vec = handle.iovec();
        this.partAt = partAt;
        this.part = vec.slice((long) partAt * WORD, (long) (words - partAt) * WORD);
        SealedWrite.share(channel, Unpooled.EMPTY_BUFFER, handle);
        this.message = channel.readOutbound();
        this.netty = message instanceof CompositeByteBuf whole ? whole.component(whole.numComponents() - 1) : message;
    }

    static Kept build(MemorySource memory, long id, SplittableRandom random, EmbeddedChannel channel) {
        int most = random.nextInt(64) == 0 ? 40_000 : random.nextInt(8) == 0 ? 4_000 : 200;
        int words = 1 + random.nextInt(most);
        try (BufferBuilder builder = random.nextBoolean()
                ? BufferBuilder.create(memory)
                : BufferBuilder.ofCapacity(memory, (long) words * WORD)) {
            for (int i = 0; i < words; i++) {
                builder.putLong(word(id, i));
            }
            SealedBuffer handle = builder.seal();
            try {
                return new Kept(id, words, handle, channel, random.nextInt(words));
            } catch (Throwable failure) {
                handle.close();
                throw failure;
            }
        }
    }

    private static long word(long id, int index) {
        return id << 20 | index;
    }

    /// Ends every claim: from here on what is kept is stale.
    void close() {
        message.release();
        handle.close();
    }

    /// One read.
    ///
    /// @return whether it saw this buffer's bytes
    /// @throws RuntimeException if the read found that it was late
    boolean isRight(int kind, SplittableRandom random, byte[] aside) {
        int index = random.nextInt(words);
        long at = (long) index * WORD;
        return switch (kind) {
            case 0 -> handle.iovec().getLong(at) == word(id, index);
            case 1 -> vec.getLong(at) == word(id, index);
            case 2 -> index < partAt || part.getLong((long) (index - partAt) * WORD) == word(id, index);
            case 3 -> {
                int count = Math.min(words - index, aside.length / WORD);
                vec.copyTo(at, MemorySegment.ofArray(aside), (long) count * WORD);
                yield isRight(aside, index, count);
            }
            case 4 -> BufferReader.of(handle).position(at).getLong() == word(id, index);
            case 5 -> {
                int behind = words * WORD - netty.capacity();
                try {
                    yield at < behind || netty.getLong((int) at - behind) == word(id, index);
                } catch (IndexOutOfBoundsException beside) {
                    // the last release, between Netty's check and the read, leaves an empty view
                    throw new IllegalReferenceCountException(netty.refCnt());
                }
            }
            case 6 -> {
                if (words > 1_000) {
                    yield handle.iovec().getByte(at + WORD - 1) == (byte) index;
                }
                yield isRight(handle.toByteArray(), 0, words);
            }
            case 7 ->
                vec.regionCount() != 1
                        || SealedDirectBuffer.of(vec).getLong((int) at, ByteOrder.BIG_ENDIAN) == word(id, index);
            default -> {
                IoVecCursor cursor = IoVecCursor.of(vec);
                cursor.advance(at);
                ByteBuffer view = cursor.window(1, WORD)[0];
                yield view.remaining() < WORD || view.getLong(view.position()) == word(id, index);
            }
        };
    }

    private boolean isRight(byte[] bytes, int from, int count) {
        ByteBuffer read = ByteBuffer.wrap(bytes);
        for (int i = 0; i < count; i++) {
            if (read.getLong(i * WORD) != word(id, from + i)) {
                return false;
            }
        }
        return true;
    }
}
