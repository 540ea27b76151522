// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.Safety;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.refcount.LeaseTally;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A sealed buffer as Netty counts it: one handle, from the first to the last release.
class SealedByteBufTest {

    private static final int RACES = 100;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    private SealedBuffer message(int... values) {
        return message(memory, values);
    }

    private static SealedBuffer message(MemorySource source, int... values) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            for (int value : values) {
                builder.putByte((byte) value);
            }
            return builder.seal();
        }
    }

    @Test
    void shareLeavesTheGivenHandleAndHoldsOneOfItsOwn() {
        SealedBuffer message = message(1, 2, 3);
        ByteBuf bytes = SealedByteBuf.share(message);
        message.close();
        assertEquals(1, handles.open());
        assertArrayEquals(new byte[] {1, 2, 3}, ByteBufUtil.getBytes(bytes));
        assertTrue(bytes.isReadOnly());
        bytes.retain();
        assertFalse(bytes.release());
        assertEquals(1, handles.open());
        assertTrue(bytes.release());
        assertEquals(0, handles.open());
        assertThrows(IllegalReferenceCountException.class, () -> bytes.getByte(0));
    }

    @Test
    void moveTakesTheGivenHandle() {
        SealedBuffer message = message(1, 2);
        ByteBuf bytes = SealedByteBuf.move(message);
        assertFalse(message.isOpen());
        // a stray close of it takes nothing away
        message.close();
        assertEquals(2, bytes.getByte(1));
        bytes.release();
        assertThrows(ReleasedBufferException.class, () -> SealedByteBuf.move(message));
        assertThrows(ReleasedBufferException.class, () -> SealedByteBuf.share(message));
    }

    @Test
    void manyRegionsAreOneMessageAndNothingIsEmpty() {
        try (SealedBuffer first = message(1, 2);
                SealedBuffer second = message(3);
                SealedBuffer both = SealedBuffer.concat(first, second)) {
            ByteBuf bytes = SealedByteBuf.share(both);
            assertArrayEquals(new byte[] {1, 2, 3}, ByteBufUtil.getBytes(bytes));
            ByteBuf kept = bytes.retainedSlice(1, 2);
            bytes.release();
            assertArrayEquals(new byte[] {2, 3}, ByteBufUtil.getBytes(kept));
            kept.release();
        }
        try (SealedBuffer nothing = SealedBuffer.concat()) {
            assertEquals(0, SealedByteBuf.share(nothing).readableBytes());
        }
    }

    static List<MemorySource> sources() {
        return List.of(
                ArenaSource.create(),
                ArenaSource.builder().safety(Safety.CHECKED).build(),
                SlabSource.builder().build());
    }

    @ParameterizedTest
    @MethodSource("sources")
    void viewsThatWereMadeOnceServeEachShare(MemorySource source) {
        SealedBuffer message = message(source, 1, 2, 3, 4);
        NioViews views = NioViews.of(message);
        ByteBuf one = SealedByteBuf.share(message, views);
        ByteBuf other = SealedByteBuf.share(message, views);
        message.close();
        ByteBuffer first = one.internalNioBuffer(0, 4);
        first.position(2);
        assertTrue(first.isReadOnly());
        // each has a position of its own
        assertEquals(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), other.internalNioBuffer(0, 4));
        assertEquals(ByteBuffer.wrap(new byte[] {2, 3}), other.nioBuffer(1, 2));
        one.release();
        assertEquals(ByteBuffer.wrap(new byte[] {3, 4}), other.nioBuffers(2, 2)[0]);
        other.release();
        // its memory may be the first one's
        try (SealedBuffer next = message(source, 5, 6, 7, 8)) {
            ByteBuf strange = SealedByteBuf.share(next, views);
            assertEquals(ByteBuffer.wrap(new byte[] {6, 7}), strange.nioBuffer(1, 2));
            strange.release();
        }
    }

    @Test
    void viewsOfManyRegionsAndOfAnotherBufferGiveTheRightBytes() {
        try (SealedBuffer first = message(1, 2);
                SealedBuffer second = message(3);
                SealedBuffer both = SealedBuffer.concat(first, second)) {
            ByteBuf bytes = SealedByteBuf.share(both, NioViews.of(both));
            assertEquals(ByteBuffer.wrap(new byte[] {2}), bytes.nioBuffers(1, 2)[0]);
            assertEquals(ByteBuffer.wrap(new byte[] {3}), bytes.nioBuffers(1, 2)[1]);
            bytes.release();
            ByteBuf strange = SealedByteBuf.share(second, NioViews.of(first));
            assertEquals(ByteBuffer.wrap(new byte[] {3}), strange.nioBuffer());
            strange.release();
            SealedBuffer over = first.share();
            over.close();
            assertThrows(ReleasedBufferException.class, () -> NioViews.of(over));
        }
    }

    @Test
    void countRefusesWhatNettysDoes() {
        try (SealedBuffer message = message(1)) {
            ByteBuf bytes = SealedByteBuf.share(message);
            assertThrows(IllegalArgumentException.class, () -> bytes.retain(0));
            assertThrows(IllegalArgumentException.class, () -> bytes.release(-1));
            assertThrows(IllegalReferenceCountException.class, () -> bytes.retain(Integer.MAX_VALUE));
            assertThrows(IllegalReferenceCountException.class, () -> bytes.release(2));
            assertEquals(1, bytes.refCnt());
            assertEquals(3, bytes.retain(2).refCnt());
            assertTrue(bytes.release(3));
            assertThrows(IllegalReferenceCountException.class, bytes::retain);
            assertThrows(IllegalReferenceCountException.class, bytes::release);
        }
    }

    @Test
    void lastOfRacingReleasesClosesOnce() throws Exception {
        AtomicInteger last = new AtomicInteger();
        for (int i = 0; i < RACES; i++) {
            try (SealedBuffer message = message(1)) {
                ByteBuf bytes = SealedByteBuf.share(message).retain();
                CyclicBarrier both = new CyclicBarrier(2);
                Thread other = Thread.ofPlatform().start(() -> release(bytes, both, last));
                release(bytes, both, last);
                other.join();
            }
        }
        assertEquals(RACES, last.get());
    }

    private static void release(ByteBuf bytes, CyclicBarrier both, AtomicInteger last) {
        try {
            both.await();
        } catch (InterruptedException | BrokenBarrierException stop) {
            throw new IllegalStateException(stop);
        }
        for (int i = 0; i < 1000; i++) {
            bytes.retain();
            bytes.release();
        }
        if (bytes.release()) {
            last.incrementAndGet();
        }
    }

    @Test
    void codecsWrapIt() {
        EmbeddedChannel channel = new EmbeddedChannel(new WebSocket13FrameEncoder(false));
        try (SealedBuffer message = message(7, 8)) {
            channel.writeOutbound(new BinaryWebSocketFrame(SealedByteBuf.share(message)));
        }
        StringBuilder out = new StringBuilder();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            out.append(ByteBufUtil.hexDump(part));
            part.release();
        }
        assertEquals("82020708", out.toString());
        channel.finishAndReleaseAll();
    }
}
