// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.CountingSource;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Memory goes from one kind of owner to another, and one of them stays behind, or none does.
///
/// bytes 3667543: foreign memory that was copied out is never freed. bytes#842: an empty rest keeps its share
/// of everything. bytes 6b4b0ed: a handle passes for the only one. grpc#33205: few bytes pin a large block.
class OwnerChangesHandsTest {

    private static final byte[] MESSAGE = Bytes.numbered(17, 1_000);

    private final CountingSource source = new CountingSource(null);

    @Test
    void truncateThatOnlyMovesTheEndKeepsTheBlock() {
        record Bytes(byte[] block, int length) {
            Bytes truncate(int to) {
                return new Bytes(block, to);
            }
        }
        assertEquals(1_000, new Bytes(MESSAGE, 1_000).truncate(0).block.length);
    }

    @Test
    void foreignMemoryGoesBackOnceAlsoAfterACopy() {
        AtomicInteger givenBack = new AtomicInteger();
        SealedBuffer adopted = SealedBuffer.adopt(MemorySegment.ofArray(MESSAGE), givenBack::incrementAndGet);
        SealedBuffer copy = adopted.copy(source);
        SealedBuffer part = adopted.slice(0, 10);
        SealedBuffer small = part.compact(source, 0.5);
        part.close();
        assertEquals(0, givenBack.get());
        adopted.close();
        assertEquals(1, givenBack.get());
        assertArrayEquals(MESSAGE, Bytes.of(copy));
        assertArrayEquals(Bytes.numbered(17, 10), Bytes.of(small));
        copy.close();
        small.close();
        assertEquals(1, givenBack.get());
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void smallSliceSaysWhatItPinsAndCompactLetsItGo() {
        SealedBuffer whole = Bytes.seal(source, MESSAGE);
        for (int length : new int[] {0, 10}) {
            try (SealedBuffer slice = whole.slice(500, length);
                    SealedBuffer small = slice.compact(source, 0.5)) {
                assertEquals(whole.pinnedBytes(), slice.pinnedBytes());
                assertEquals(length == 0, small.pinnedBytes() == 0);
                assertEquals(length, small.byteSize());
                assertEquals(2, whole.holders());
            }
        }
        whole.close();
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void emptyBufferPinsNothing() {
        BufferBuilder builder = BufferBuilder.create(source).put(MESSAGE).put(new byte[100_000]);
        builder.truncate(0);
        try (SealedBuffer empty = builder.seal()) {
            assertEquals(0, empty.pinnedBytes());
            assertEquals(source.taken(), source.givenBack());
        }
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void emptyBufferWhoseFirstRegionWasTooSmallPinsNothing() {
        BufferBuilder builder = BufferBuilder.ofCapacity(source, 1).putByte((byte) 1);
        builder.truncate(0);
        builder.putLong(1);
        builder.truncate(0);
        builder.seal().close();
        assertEquals(2, source.taken());
        assertEquals(2, source.givenBack());
    }

    @Test
    void regionWithoutAByteIsNotPinned() {
        BufferBuilder builder = BufferBuilder.ofCapacity(source, 1_000).put(MESSAGE);
        builder.putInt(1);
        builder.truncate(1_000);
        try (SealedBuffer buffer = builder.seal()) {
            assertEquals(1_000, buffer.pinnedBytes());
            assertArrayEquals(MESSAGE, Bytes.of(buffer));
        }
        assertEquals(source.taken(), source.givenBack());
    }

    @Test
    void handOverEndsTheGiversHandleAndNothingElse() {
        SealedBuffer first = Bytes.seal(source, MESSAGE);
        SealedBuffer other = first.share();
        SealedBuffer second = first.move();
        SealedBuffer third = second.move();
        for (SealedBuffer giver : new SealedBuffer[] {first, second, first}) {
            giver.close();
            assertThrows(ReleasedBufferException.class, giver::move);
        }
        assertEquals(2, third.holders());
        other.close();
        assertArrayEquals(MESSAGE, Bytes.of(third));
        third.close();
        assertEquals(source.taken(), source.givenBack());
    }
}
