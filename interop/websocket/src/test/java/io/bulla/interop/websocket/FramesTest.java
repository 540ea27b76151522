// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.ReleasedBufferException;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.Inflater;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What stands on the wire, read by Netty's decoder.
class FramesTest {

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final PreparedMessages messages = PreparedMessages.builder(memory).build();
    private final PreparedMessages inPieces =
            PreparedMessages.builder(memory).fragment(1024).build();

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    /// RFC 6455, 5.2: of a client that has agreed to no extension.
    @Test
    void reservedBitEndsTheChannelOnce() {
        EmbeddedChannel server = server();
        Object[] all = new Object[1000];
        for (int i = 0; i < all.length; i++) {
            all[i] = new TextWebSocketFrame(true, 1 << i % 3, Unpooled.buffer().writeByte('x'));
        }
        server.writeInbound(all);
        for (Object each : all) {
            assertEquals(0, ReferenceCountUtil.refCnt(each));
        }
        assertNull(server.readInbound());
        List<WebSocketFrame> out = frames(server);
        assertEquals(1, out.size());
        assertEquals(
                1002,
                assertInstanceOf(CloseWebSocketFrame.class, out.getFirst()).statusCode());
        out.getFirst().release();
        assertFalse(server.isOpen());
    }

    @Test
    void idleChannelIsPingedWhileItIsWritable() {
        EmbeddedChannel server = server();
        server.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        List<WebSocketFrame> out = frames(server);
        assertEquals(1, out.size());
        assertInstanceOf(PingWebSocketFrame.class, out.getFirst()).release();
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        server.pipeline().fireUserEventTriggered(IdleStateEvent.WRITER_IDLE_STATE_EVENT);
        assertEquals(List.of(), frames(server));
        server.pipeline().fireUserEventTriggered(IdleStateEvent.READER_IDLE_STATE_EVENT);
        assertFalse(server.isOpen());
        server.finishAndReleaseAll();
    }

    @Test
    void clientThatPingsAndDoesNotReadCostsOnePong() {
        EmbeddedChannel server = pinged();
        assertPong(server, 1);
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        ByteBuf[] pings = new ByteBuf[1000];
        for (int i = 0; i < pings.length; i++) {
            pings[i] = Unpooled.buffer().writeInt(i);
            server.writeInbound(new PingWebSocketFrame(pings[i]));
        }
        assertEquals(List.of(), frames(server));
        for (int i = 0; i < pings.length - 1; i++) {
            assertEquals(0, pings[i].refCnt());
        }
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
        server.runPendingTasks();
        List<WebSocketFrame> out = frames(server);
        assertEquals(1, out.size());
        assertEquals(
                pings.length - 1,
                assertInstanceOf(PongWebSocketFrame.class, out.getFirst())
                        .content()
                        .readInt());
        out.getFirst().release();
        assertPong(server, 2);
        server.finishAndReleaseAll();
    }

    @Test
    void noPongFollowsACloseAndNoneIsLeft() {
        EmbeddedChannel server = pinged();
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        ByteBuf first = Unpooled.buffer().writeInt(1);
        server.writeInbound(new PingWebSocketFrame(first));
        server.writeOutbound(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
        assertEquals(0, first.refCnt());
        ByteBuf second = Unpooled.buffer().writeInt(2);
        server.writeInbound(new PingWebSocketFrame(second));
        server.close();
        assertEquals(0, second.refCnt());
        server.finishAndReleaseAll();
    }

    @Test
    void handlerTakesItsPartOfThePipelineAlong() {
        EmbeddedChannel server = pinged();
        List<String> before = server.pipeline().names();
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
        ByteBuf ping = Unpooled.buffer().writeInt(1);
        server.writeInbound(new PingWebSocketFrame(ping));
        server.pipeline().remove(PreparedMessageHandler.class);
        assertEquals(before.size() - 2, server.pipeline().names().size());
        assertEquals(0, ping.refCnt());
        server.finishAndReleaseAll();
    }

    private static EmbeddedChannel pinged() {
        EmbeddedChannel server = new EmbeddedChannel(
                new WebSocket13FrameEncoder(false),
                new WebSocketServerProtocolHandler("/"),
                new PreparedMessageHandler());
        // as after the handshake, for which it waits
        server.pipeline().remove(server.pipeline().names().get(1));
        return server;
    }

    private static void assertPong(EmbeddedChannel server, int number) {
        server.writeInbound(new PingWebSocketFrame(Unpooled.buffer().writeInt(number)));
        List<WebSocketFrame> out = frames(server);
        assertEquals(1, out.size());
        assertEquals(number, out.getFirst().content().readInt());
        out.getFirst().release();
    }

    private SealedBuffer bytes(byte[] all) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            return builder.put(all).seal();
        }
    }

    private static byte[] random(int length) {
        byte[] all = new byte[length];
        new Random(length).nextBytes(all);
        return all;
    }

    private static byte[] legible(int length) {
        return "{\"price\": 12.5, \"name\": \"ä\"}"
                .repeat(length / 20 + 1)
                .substring(0, length)
                .getBytes(StandardCharsets.UTF_8);
    }

    static EmbeddedChannel server() {
        return new EmbeddedChannel(new WebSocket13FrameEncoder(false), new PreparedMessageHandler());
    }

    /// All frames that a channel has written, as a client's decoder reads them.
    static List<WebSocketFrame> frames(EmbeddedChannel server) {
        EmbeddedChannel client = new EmbeddedChannel(new WebSocket13FrameDecoder(false, true, 1 << 27));
        for (ByteBuf out = server.readOutbound(); out != null; out = server.readOutbound()) {
            client.writeInbound(Unpooled.copiedBuffer(out));
            out.release();
        }
        List<WebSocketFrame> frames = new ArrayList<>();
        for (WebSocketFrame in = client.readInbound(); in != null; in = client.readInbound()) {
            frames.add(in);
        }
        client.finishAndReleaseAll();
        return frames;
    }

    static byte[] payload(WebSocketFrame frame) {
        byte[] all = new byte[frame.content().readableBytes()];
        frame.content().readBytes(all);
        frame.release();
        return all;
    }

    static byte[] joined(List<byte[]> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEach(all::writeBytes);
        return all.toByteArray();
    }

    static byte[] inflated(byte[] compressed) throws Exception {
        Inflater inflater = new Inflater(true);
        byte[] tail = {0, 0, (byte) 0xff, (byte) 0xff};
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] step = new byte[4096];
        for (byte[] in : new byte[][] {compressed, tail}) {
            inflater.setInput(in);
            for (int n = inflater.inflate(step); n > 0; n = inflater.inflate(step)) {
                out.write(step, 0, n);
            }
        }
        inflater.end();
        return out.toByteArray();
    }

    @Test
    void messageOfEachLengthIsOneFrame() {
        for (int length : new int[] {0, 1, 125, 126, 127, 16383, 16384, 16385, 65535, 65536, 1 << 20}) {
            byte[] wanted = random(length);
            EmbeddedChannel server = server();
            try (SealedBuffer bytes = bytes(wanted);
                    PreparedMessage message = messages.binary(bytes)) {
                assertEquals(length, message.byteSize());
                assertTrue(PreparedMessageHandler.of(server).write(message).isSuccess());
            }
            List<WebSocketFrame> frames = frames(server);
            assertEquals(1, frames.size());
            BinaryWebSocketFrame frame = assertInstanceOf(BinaryWebSocketFrame.class, frames.getFirst());
            assertTrue(frame.isFinalFragment());
            assertEquals(0, frame.rsv());
            assertArrayEquals(wanted, payload(frame));
            assertEquals(0, handles.open(), "length=" + length);
        }
    }

    @Test
    void longMessageIsManyFrames() {
        byte[] wanted = random(50_000);
        EmbeddedChannel server = server();
        try (SealedBuffer bytes = bytes(wanted);
                PreparedMessage message = inPieces.binary(bytes)) {
            assertTrue(PreparedMessageHandler.of(server).write(message).isSuccess());
        }
        assertFragments(wanted, frames(server), 0);
    }

    private static void assertFragments(byte[] wanted, List<WebSocketFrame> frames, int rsv) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < frames.size(); i++) {
            WebSocketFrame frame = frames.get(i);
            assertEquals(i == 0, frame instanceof BinaryWebSocketFrame);
            assertEquals(i > 0, frame instanceof ContinuationWebSocketFrame);
            assertEquals(i == frames.size() - 1, frame.isFinalFragment());
            assertEquals(i == 0 ? rsv : 0, frame.rsv());
            byte[] part = payload(frame);
            assertTrue(part.length == 1024 || frame.isFinalFragment());
            all.writeBytes(part);
        }
        assertArrayEquals(wanted, all.toByteArray());
    }

    @Test
    void textIsCheckedOnce() {
        try (PreparedMessage message = messages.text("Grüße \ud83d\ude00")) {
            EmbeddedChannel server = server();
            PreparedMessageHandler.of(server).write(message);
            TextWebSocketFrame frame =
                    assertInstanceOf(TextWebSocketFrame.class, frames(server).getFirst());
            assertEquals("Grüße \ud83d\ude00", frame.text());
            frame.release();
        }
        assertThrows(IllegalArgumentException.class, () -> messages.text("half \ud83d"));
        for (String hex : List.of("c3", "41c0", "ed a080", "e282", "f0 9f 98", "ff", "80", "f4 90 80 80")) {
            byte[] wrong = java.util.HexFormat.of().parseHex(hex.replace(" ", ""));
            try (SealedBuffer bytes = bytes(wrong)) {
                String said =
                        String.valueOf(assertThrows(IllegalArgumentException.class, () -> messages.text(bytes), hex)
                                .getMessage());
                assertTrue(said.startsWith("text is not UTF-8: byte="), said);
            }
        }
    }

    /// Regions that end within a character.
    @Test
    void textOfManyRegionsIsChecked() {
        byte[] text = "aä€\ud83d\ude00z".repeat(3).getBytes(StandardCharsets.UTF_8);
        for (int first = 0; first <= text.length; first++) {
            for (int second = first; second <= text.length; second++) {
                try (SealedBuffer whole = bytes(text);
                        SealedBuffer a = whole.slice(0, first);
                        SealedBuffer b = whole.slice(first, second - first);
                        SealedBuffer copyOfB = bytes(b.toByteArray());
                        SealedBuffer c = whole.slice(second, text.length - second);
                        SealedBuffer all = SealedBuffer.concat(a, copyOfB, c)) {
                    messages.text(all).close();
                    try (SealedBuffer wrong = SealedBuffer.concat(a, copyOfB, copyOfB, c)) {
                        boolean right = isUtf8(wrong.toByteArray());
                        boolean taken;
                        try {
                            messages.text(wrong).close();
                            taken = true;
                        } catch (IllegalArgumentException refused) {
                            taken = false;
                        }
                        assertEquals(right, taken, "first=" + first + " second=" + second);
                    }
                }
            }
        }
    }

    private static boolean isUtf8(byte[] bytes) {
        return java.util.Arrays.equals(
                bytes, new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void compressedFormIsSmallerAndTheSame() throws Exception {
        for (int length : new int[] {100, 2048, 16384, 100_000}) {
            byte[] wanted = legible(length);
            EmbeddedChannel server = server();
            SharedDeflateTest.agree(server);
            try (SealedBuffer bytes = bytes(wanted);
                    PreparedMessage message = messages.binary(bytes)) {
                long size = message.compress();
                assertTrue(size < wanted.length / 2 + 32, "size=" + size);
                assertEquals(size, message.compress());
                PreparedMessageHandler.of(server).write(message);
                PreparedMessageHandler.of(server).write(message);
            }
            for (WebSocketFrame frame : frames(server)) {
                assertEquals(4, frame.rsv(), "RSV1");
                assertArrayEquals(wanted, inflated(payload(frame)));
            }
        }
    }

    @Test
    void whatDoesNotGetShorterIsNotCompressed() {
        for (byte[] wanted : List.of(new byte[0], new byte[] {1}, random(3000), random(100_000))) {
            EmbeddedChannel server = server();
            SharedDeflateTest.agree(server);
            try (SealedBuffer bytes = bytes(wanted);
                    PreparedMessage message = messages.binary(bytes)) {
                PreparedMessageHandler.of(server).write(message);
            }
            WebSocketFrame frame = frames(server).getFirst();
            assertEquals(0, frame.rsv());
            assertArrayEquals(wanted, payload(frame));
        }
    }

    @Test
    void messageThatIsNotToBeCompressedIsNot() {
        EmbeddedChannel server = server();
        SharedDeflateTest.agree(server);
        byte[] wanted = legible(5000);
        try (SealedBuffer bytes = bytes(wanted);
                PreparedMessage text = messages.textUncompressed(bytes);
                PreparedMessage binary = messages.binaryUncompressed(bytes)) {
            PreparedMessageHandler.of(server).write(text);
            PreparedMessageHandler.of(server).write(binary);
        }
        for (WebSocketFrame frame : frames(server)) {
            assertEquals(0, frame.rsv());
            assertArrayEquals(wanted, payload(frame));
        }
    }

    @Test
    void longCompressedMessageHasOneMark() throws Exception {
        EmbeddedChannel server = server();
        SharedDeflateTest.agree(server);
        byte[] wanted = random(100_000);
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] &= 7;
        }
        try (SealedBuffer bytes = bytes(wanted);
                PreparedMessage message = inPieces.binary(bytes)) {
            PreparedMessageHandler.of(server).write(message);
        }
        List<WebSocketFrame> frames = frames(server);
        assertTrue(frames.size() > 10, "frames=" + frames.size());
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        frames.forEach(frame -> {
            assertEquals(frame == frames.getFirst() ? 4 : 0, frame.rsv());
            all.writeBytes(payload(frame));
        });
        assertArrayEquals(wanted, inflated(all.toByteArray()));
    }

    @Test
    void pingsPassAndOtherMessagesWaitBehindTheFramesOfOne() {
        EmbeddedChannel server = server();
        byte[] wanted = random(5000);
        // nothing is taken while the buffer is full
        PreparedMessageHandler handler = PreparedMessageHandler.of(server);
        ChannelFuture sent;
        ChannelFuture text;
        ChannelFuture ping;
        try (SealedBuffer bytes = bytes(wanted);
                PreparedMessage message = inPieces.binary(bytes)) {
            server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            sent = handler.write(message);
            assertFalse(sent.isDone());
            text = server.writeAndFlush(new TextWebSocketFrame("behind"));
            ping = server.writeAndFlush(new PingWebSocketFrame());
        }
        assertTrue(ping.isSuccess());
        assertFalse(text.isDone());
        server.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
        server.runPendingTasks();
        assertTrue(sent.isSuccess());
        assertTrue(text.isSuccess());
        List<WebSocketFrame> frames = frames(server);
        assertInstanceOf(PingWebSocketFrame.class, frames.getFirst());
        assertInstanceOf(TextWebSocketFrame.class, frames.getLast());
        assertFragments(wanted, frames.subList(1, frames.size() - 1), 0);
        frames.getFirst().release();
        frames.getLast().release();
    }

    @Test
    void whatWaitsIsGivenBackWhenTheChannelEnds() {
        for (int way = 0; way < 4; way++) {
            EmbeddedChannel server = server();
            PreparedMessageHandler handler = PreparedMessageHandler.of(server);
            server.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
            ChannelFuture sent;
            ChannelFuture next;
            try (SealedBuffer bytes = bytes(random(5000));
                    PreparedMessage message = inPieces.binary(bytes);
                    PreparedMessage one = messages.text("one")) {
                sent = handler.write(message);
                next = handler.write(one);
                assertFalse(next.isDone(), "it has overtaken");
                switch (way) {
                    case 0 -> server.close();
                    case 1 -> server.pipeline().remove(handler);
                    case 2 -> server.writeAndFlush(new CloseWebSocketFrame());
                    default -> handler.close(WebSocketCloseStatus.TRY_AGAIN_LATER, Duration.ofSeconds(5));
                }
                server.runPendingTasks();
                assertInstanceOf(
                        ClosedChannelException.class, handler.write(one).cause());
            }
            assertInstanceOf(ClosedChannelException.class, sent.cause());
            assertInstanceOf(ClosedChannelException.class, next.cause());
            assertEquals(0, handles.open(), "way=" + way);
            List<WebSocketFrame> frames = frames(server);
            if (way == 3) {
                CloseWebSocketFrame close = assertInstanceOf(CloseWebSocketFrame.class, frames.getFirst());
                assertEquals(1013, close.statusCode());
                assertFalse(server.isOpen());
            }
            frames.forEach(ReferenceCountUtil::release);
            server.finishAndReleaseAll();
        }
    }

    @Test
    void closedMessageIsRefusedAndWhatWasWrittenGoesOut() {
        EmbeddedChannel server = server();
        PreparedMessage message = messages.text("x".repeat(3000));
        ByteBuf held;
        PreparedMessageHandler.of(server).write(message);
        held = server.readOutbound();
        message.close();
        message.close();
        assertEquals(3004, held.readableBytes());
        assertEquals('x', held.getByte(3003));
        assertTrue(handles.open() > 0);
        held.release();
        assertEquals(0, handles.open());
        assertThrows(
                ReleasedBufferException.class,
                () -> PreparedMessageHandler.of(server).write(message));
        SharedDeflateTest.agree(server);
        assertThrows(
                ReleasedBufferException.class,
                () -> PreparedMessageHandler.of(server).write(message));
        assertThrows(ReleasedBufferException.class, message::compress);
        assertNull(server.readOutbound());
    }

    @Test
    void channelWithoutAHandlerIsRefusedByName() {
        EmbeddedChannel plain = new EmbeddedChannel();
        String said = String.valueOf(assertThrows(IllegalStateException.class, () -> PreparedMessageHandler.of(plain))
                .getMessage());
        assertTrue(said.startsWith("no PreparedMessageHandler in the pipeline: channel="), said);
        assertThrows(IllegalStateException.class, () -> {
            try (PreparedMessage message = messages.text("x")) {
                new PreparedMessageHandler().write(message);
            }
        });
        assertNotNull(messages.toString());
    }
}
