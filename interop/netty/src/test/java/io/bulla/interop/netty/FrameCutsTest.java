// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.flow.FlowControlHandler;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// What arrives in buffers, cut anywhere: a stream of three frames, of a 4-byte length and that many bytes.
@ExtendWith({NoOpenHandles.class, NoLeaks.class})
class FrameCutsTest {

    private static final int LIMIT = 100;

    private static final byte[] STREAM = {0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 5, 4, 5, 6, 7, 8};

    private final List<String> frames = new ArrayList<>();

    @Test
    void threeFramesArriveHoweverTheStreamIsCutInThree(MemorySource source) {
        for (int first = 0; first <= STREAM.length; first++) {
            for (int second = first; second <= STREAM.length; second++) {
                EmbeddedChannel channel = reading(source);
                channel.writeInbound(part(0, first), part(first, second), part(second, STREAM.length));
                assertEquals(List.of("010203", "", "0405060708"), frames, "cut at " + first + " and " + second);
                assertTrue(channel.isOpen());
                channel.finishAndReleaseAll();
                frames.clear();
            }
        }
    }

    @Test
    void bufferOfManyPartsOfAllKindsIsOneStream(MemorySource source) {
        EmbeddedChannel channel = reading(source);
        CompositeByteBuf parts = Unpooled.compositeBuffer(STREAM.length);
        for (int i = 0; i < STREAM.length; i++) {
            ByteBuf one = part(i, i + 1);
            parts.addComponent(true, i % 2 == 0 ? one : Unpooled.directBuffer(1).writeBytes(one));
        }
        channel.writeInbound(parts);
        assertEquals(List.of("010203", "", "0405060708"), frames);
        channel.finishAndReleaseAll();
    }

    @Test
    void whatStandsBehindARefusedHeaderIsDropped(MemorySource source) {
        EmbeddedChannel channel = reading(source);
        ByteBuf bytes = Unpooled.buffer().writeInt(LIMIT + 1).writeBytes(STREAM);
        assertEquals(
                "over the limit: length=101",
                assertThrows(IOException.class, () -> channel.writeInbound(bytes))
                        .getMessage());
        assertEquals(0, bytes.refCnt());
        assertEquals(List.of(), frames);
        assertTrue(!channel.isOpen());
    }

    @Test
    void messagesThatAreNotBytesPassBy(MemorySource source) {
        EmbeddedChannel channel = reading(source);
        channel.writeInbound("not for the reader");
        assertEquals("not for the reader", channel.readInbound());
        assertNull(channel.readInbound());
        channel.finishAndReleaseAll();
    }

    @Test
    void randomBytesAreRefusedOrWaitedFor(MemorySource source) {
        Random random = new Random(7);
        for (int i = 0; i < 2000; i++) {
            EmbeddedChannel channel = reading(source);
            byte[] noise = new byte[random.nextInt(50)];
            random.nextBytes(noise);
            if (random.nextBoolean() && noise.length > 4) {
                ByteBuffer.wrap(noise).putInt(random.nextInt(-2, LIMIT + 2));
            }
            boolean refused = false;
            try {
                channel.writeInbound(Unpooled.wrappedBuffer(noise));
            } catch (Exception wrong) {
                assertTrue(wrong.getMessage().startsWith("over the limit: length="), wrong.getMessage());
                refused = true;
            }
            assertEquals(refused, !channel.isOpen());
            try {
                channel.finishAndReleaseAll();
            } catch (Exception half) {
                assertTrue(half.getMessage().startsWith("connection closed inside a frame"), half.getMessage());
            }
        }
    }

    /// A handler before this one keeps what arrives until it is asked for more: it is asked from within a delivery.
    @Test
    void framesKeepTheirOrderWhenADeliveryAsksForMore(MemorySource source) {
        byte[][][] streams = {
            {{0, 0, 0, 1, 1, 0, 0, 0, 1, 2}, {0, 0, 0, 1, 3}},
            {{0, 0, 0, 1, 1}, {0, 0}, {0, 1, 2, 0, 0, 0, 1, 3}},
        };
        for (byte[][] parts : streams) {
            EmbeddedChannel channel = new EmbeddedChannel(new FlowControlHandler());
            channel.config().setAutoRead(false);
            Lengths asking = new Lengths();
            asking.asks = true;
            FrameReader.install(channel, source, asking);
            for (byte[] part : parts) {
                channel.writeInbound(Unpooled.wrappedBuffer(part));
            }
            for (int i = 0; i < 3; i++) {
                channel.read();
            }
            assertEquals(List.of("01", "02", "03"), frames);
            assertTrue(channel.isOpen());
            channel.finishAndReleaseAll();
            frames.clear();
        }
    }

    @Test
    void whatWaitsForADeliveryIsReleasedWithTheReader(MemorySource source) {
        EmbeddedChannel channel = new EmbeddedChannel(new FlowControlHandler());
        channel.config().setAutoRead(false);
        Lengths asking = new Lengths();
        asking.asks = true;
        asking.closes = true;
        FrameReader.install(channel, source, asking);
        ByteBuf second = Unpooled.buffer().writeInt(1).writeByte(2);
        channel.writeInbound(Unpooled.buffer().writeInt(1).writeByte(1), second);
        channel.read();
        assertEquals(List.of("01"), frames);
        assertEquals(0, second.refCnt());
        channel.finishAndReleaseAll();
    }

    /// Memory whose release throws while the connection ends inside a frame.
    @Test
    void endOfTheConnectionIsToldWhateverTheMemoryThrows() {
        MemorySource hostile = byteSize -> new MemorySource.Region() {
            @Override
            public MemorySegment segment() {
                return Arena.ofAuto().allocate(byteSize);
            }

            @Override
            public void release() {
                throw new ArithmeticException("hostile");
            }
        };
        List<String> told = new ArrayList<>();
        EmbeddedChannel channel = reading(hostile);
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                told.add(cause.getClass().getSimpleName());
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                told.add("inactive");
            }
        });
        channel.writeInbound(Unpooled.buffer().writeInt(8).writeInt(1));
        channel.close();
        assertEquals(List.of("EOFException", "ArithmeticException", "inactive"), told);
    }

    /// Bytes behind a body that is given up would be taken for the body's.
    @Test
    void formatThatThrowsAsItIsAskedToSkipEndsTheChannel() {
        MemorySource none = byteSize -> {
            throw new IllegalStateException("no memory");
        };
        EmbeddedChannel channel = new EmbeddedChannel();
        Lengths failing = new Lengths();
        failing.failsToSkip = true;
        FrameReader.install(channel, none, failing);
        IllegalStateException why = assertThrows(
                IllegalStateException.class,
                () -> channel.writeInbound(Unpooled.buffer().writeInt(8).writeShort(0x0909)));
        assertEquals("no memory", why.getMessage());
        assertEquals("hostile", why.getSuppressed()[0].getMessage());
        assertFalse(channel.isOpen());
        assertEquals(List.of(), frames);
    }

    private EmbeddedChannel reading(MemorySource source) {
        EmbeddedChannel channel = new EmbeddedChannel();
        FrameReader.install(channel, source, new Lengths());
        return channel;
    }

    private static ByteBuf part(int from, int to) {
        return Unpooled.wrappedBuffer(STREAM, from, to - from);
    }

    private final class Lengths implements FrameFormat {

        private boolean asks;
        private boolean closes;
        private boolean failsToSkip;

        @Override
        public boolean skipsWithoutMemory(RuntimeException why) {
            if (failsToSkip) {
                throw new ArithmeticException("hostile");
            }
            return false;
        }

        @Override
        public int headerBytes() {
            return 4;
        }

        @Override
        public long bodyBytes(ByteBuffer header) throws IOException {
            int length = header.getInt(0);
            if (length < 0 || length > LIMIT) {
                throw new IOException("over the limit: length=" + length);
            }
            return length;
        }

        @Override
        public void frameMoved(ChannelHandlerContext context, ByteBuffer header, SealedBuffer body) {
            try (body) {
                byte[] bytes = new byte[(int) body.byteSize()];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = body.iovec().get(ValueLayout.JAVA_BYTE, i);
                }
                frames.add(HexFormat.of().formatHex(bytes));
                assertEquals(0, header.position());
            }
            if (asks) {
                context.read();
            }
            if (closes) {
                context.close();
            }
        }
    }
}
