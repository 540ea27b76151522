// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.CopyTally;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseTally;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SealedBufferTest {

    private final LeaseTally handles = new LeaseTally();
    private final MemoryBudget budget = new MemoryBudget(64 << 20);
    private final ArenaSource source = ArenaSource.create(budget, handles);

    @AfterEach
    void everythingIsGivenBack() throws InterruptedException {
        assertEquals(0, handles.open());
        source.close(Duration.ofSeconds(60));
        assertEquals(0, budget.used());
        assertEquals(0, source.openChunks());
    }

    @Test
    void builderThatIsTheLastOfItsChunkGrowsInPlace() {
        BufferBuilder builder = BufferBuilder.create(source);
        for (int i = 0; i < 10_000; i++) {
            builder.putLong(i);
        }
        try (SealedBuffer buffer = builder.seal()) {
            assertEquals(1, buffer.iovec().regionCount());
            assertEquals(80_000, buffer.pinnedBytes());
        }
    }

    @Test
    void builderWithANeighbourTakesAnotherRegionAndNoValueStraddles() {
        BufferBuilder builder = BufferBuilder.create(source).putByte((byte) 1);
        BufferBuilder neighbour = BufferBuilder.create(source);
        for (int i = 0; i < 10_000; i++) {
            builder.putLong(i);
            neighbour.putShort((short) i);
        }
        builder.putInt(7).putShort((short) 9);
        try (SealedBuffer buffer = builder.seal();
                SealedBuffer other = neighbour.seal()) {
            assertEquals(80_007, buffer.byteSize());
            assertEquals(20_000, other.byteSize());
            assertTrue(buffer.iovec().regionCount() > 1);
            assertEquals((byte) 9_999, buffer.iovec().get(ValueLayout.JAVA_BYTE, 80_000));
        }
    }

    @Test
    void longRunsCrossRegions() {
        byte[] bytes = numbered(3_000_000);
        try (SealedBuffer buffer =
                BufferBuilder.create(source).putByte((byte) 5).put(bytes).seal()) {
            assertEquals(-1, buffer.iovec().slice(1, bytes.length).mismatch(vector(bytes)));
        }
    }

    @Test
    void truncateTakesBackWholeRegions() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            builder.put(numbered(100));
            builder.put(numbered(500_000));
            builder.truncate(40);
            builder.put(numbered(3));
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals(43, buffer.byteSize());
                assertEquals(-1, buffer.iovec().slice(0, 40).mismatch(vector(numbered(40))));
                assertEquals(-1, buffer.iovec().slice(40, 3).mismatch(vector(numbered(3))));
            }
        }
    }

    @Test
    void channelThatEndsEarlyLeavesTheBuilderAsItWas() throws IOException {
        try (BufferBuilder builder = BufferBuilder.create(source).putInt(1)) {
            assertEquals(
                    "channel ended early: wanted=1000 read=700",
                    assertThrows(
                                    EOFException.class,
                                    () -> builder.readFully(
                                            Channels.newChannel(new ByteArrayInputStream(new byte[700])), 1000))
                            .getMessage());
            assertEquals(4, builder.byteSize());
            builder.readFully(Channels.newChannel(new ByteArrayInputStream(numbered(1000))), 1000);
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals(-1, buffer.iovec().slice(4, 1000).mismatch(vector(numbered(1000))));
            }
        }
    }

    /// One that fills whatever room it can get at, and writes once more to each view that it was given.
    @Test
    void foreignChannelAddsNoByteAndChangesNoneLater() throws IOException {
        byte[] said = numbered(200_000);
        List<ByteBuffer> kept = new ArrayList<>();
        ReadableByteChannel channel = new ReadableByteChannel() {
            private int at;

            @Override
            public int read(ByteBuffer target) {
                kept.add(target.duplicate());
                target.clear();
                int length = Math.min(target.remaining(), said.length - at);
                target.put(said, at, length);
                at += length;
                return length;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        };
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            builder.readFully(channel, 150_000);
            for (ByteBuffer each : kept) {
                each.clear();
                each.put(new byte[each.remaining()]);
            }
            try (SealedBuffer buffer = builder.seal()) {
                assertEquals(150_000, buffer.byteSize());
                assertEquals(-1, buffer.iovec().mismatch(vector(Arrays.copyOf(said, 150_000))));
            }
        }
    }

    @Test
    void builderRefusesWritesAfterSealAndAfterClose() {
        BufferBuilder builder = BufferBuilder.create(source).putInt(1);
        builder.seal().close();
        assertEquals(
                "builder already sealed: byteSize=4",
                assertThrows(IllegalStateException.class, () -> builder.putByte((byte) 1))
                        .getMessage());
        assertThrows(IllegalStateException.class, builder::seal);
        builder.close();
        BufferBuilder abandoned = BufferBuilder.create(source).putInt(1);
        abandoned.close();
        abandoned.close();
        assertEquals(
                "builder already abandoned: byteSize=4",
                assertThrows(IllegalStateException.class, () -> abandoned.put(new byte[1]))
                        .getMessage());
    }

    @Test
    void budgetThatIsExceededLeavesTheBuilderAsItWas() {
        try (BufferBuilder builder = BufferBuilder.create(source).putInt(42)) {
            MemorySegment tooMuch = MemorySegment.ofArray(new byte[70 << 20]);
            String message = assertThrows(IllegalStateException.class, () -> builder.put(tooMuch))
                    .getMessage();
            assertTrue(message.startsWith("memory budget exceeded: requested="), message);
            assertEquals(4, builder.byteSize());
            builder.seal().close();
        }
    }

    @Test
    void everyHandleIsClosedByItself() {
        SealedBuffer first = sealed(100);
        SealedBuffer[] shares = first.shares(3);
        assertEquals(4, first.holders());
        first.close();
        first.close();
        shares[0].close();
        assertTrue(shares[1].isOpen());
        assertEquals(100, shares[2].byteSize());
        assertEquals(2, shares[1].holders());
        shares[1].close();
        shares[2].close();
        assertFalse(shares[2].isOpen());
    }

    @Test
    void sliceSharesBytesAndOutlivesParent() {
        SealedBuffer whole = sealed(100);
        SealedBuffer part = whole.slice(10, 20);
        long address = whole.iovec().region(0).address();
        whole.close();
        assertEquals(address + 10, part.iovec().region(0).address());
        assertEquals(10, part.iovec().get(ValueLayout.JAVA_BYTE, 0));
        part.close();
    }

    @Test
    void concatHoldsItsPartsAndCopiesNothing() {
        CopyTally before = CopyTally.snapshot();
        SealedBuffer left = sealed(10);
        SealedBuffer right = sealed(20);
        SealedBuffer both = SealedBuffer.concat(left, right, left);
        left.close();
        right.close();
        assertEquals(40, both.byteSize());
        assertEquals(19, both.iovec().get(ValueLayout.JAVA_BYTE, 29));
        both.close();
        assertEquals(0, CopyTally.snapshot().since(before).copies());
    }

    @Test
    void concatWithAClosedPartLeavesNoShareBehind() {
        SealedBuffer open = sealed(10);
        SealedBuffer closed = sealed(10);
        closed.close();
        assertThrows(ReleasedBufferException.class, () -> SealedBuffer.concat(open, closed));
        assertEquals(1, open.holders());
        open.close();
    }

    @Test
    void useAfterCloseIsAnException() {
        SealedBuffer buffer = sealed(10);
        SealedBuffer other = buffer.share();
        buffer.close();
        assertEquals(
                "buffer handle already closed: byteSize=10",
                assertThrows(ReleasedBufferException.class, buffer::iovec).getMessage());
        assertThrows(ReleasedBufferException.class, buffer::share);
        assertThrows(ReleasedBufferException.class, () -> buffer.shares(2));
        assertThrows(ReleasedBufferException.class, () -> buffer.slice(0, 1));
        assertThrows(ReleasedBufferException.class, buffer::byteSize);
        assertThrows(ReleasedBufferException.class, () -> buffer.copy(source));
        other.close();
    }

    @Test
    void viewThatEscapedThrowsOnceTheMemoryIsGivenBack() {
        SealedBuffer buffer = sealed(1 << 20);
        IoVec escaped = buffer.iovec();
        long chunks = source.openChunks();
        buffer.close();
        Await.until(() -> source.openChunks() < chunks);
        assertThrows(IllegalStateException.class, () -> escaped.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void copyIsOneCopyAndIndependent() {
        CopyTally before = CopyTally.snapshot();
        SealedBuffer buffer = sealed(1000);
        SealedBuffer copy = buffer.copy(source);
        buffer.close();
        assertEquals(new CopyTally(1, 1000), CopyTally.snapshot().since(before));
        assertEquals(-1, copy.iovec().mismatch(vector(numbered(1000))));
        copy.close();
    }

    @Test
    void emptyBufferIsABuffer() {
        try (SealedBuffer empty = BufferBuilder.create(source).seal();
                SealedBuffer share = empty.share();
                SealedBuffer copy = empty.copy(source)) {
            assertEquals(0, share.byteSize());
            assertEquals(0, copy.byteSize());
            assertEquals(0, empty.iovec().asByteBuffers().length);
        }
    }

    @Test
    void closedSourceHandsOutNothing() {
        ArenaSource own = ArenaSource.create();
        own.allocate(10).release();
        own.close();
        own.close();
        String said = assertThrows(IllegalStateException.class, () -> own.allocate(10))
                .getMessage();
        assertTrue(said.startsWith("memory source already closed: requested=10 openChunks="), said);
    }

    private SealedBuffer sealed(int size) {
        return BufferBuilder.ofCapacity(source, size).put(numbered(size)).seal();
    }

    private static byte[] numbered(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    private static IoVec vector(byte[] bytes) {
        return IoVec.of(MemorySegment.ofArray(bytes));
    }
}
