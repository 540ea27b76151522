// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
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

    private EmbeddedChannel reading(MemorySource source) {
        EmbeddedChannel channel = new EmbeddedChannel();
        FrameReader.install(channel, source, new Lengths());
        return channel;
    }

    private static ByteBuf part(int from, int to) {
        return Unpooled.wrappedBuffer(STREAM, from, to - from);
    }

    private final class Lengths implements FrameFormat {

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
        }
    }
}
