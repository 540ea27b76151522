// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtension;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Offers of permessage-deflate, right and forged, and what is answered.
class SharedDeflateTest {

    private static final SharedDeflate DEFLATE = SharedDeflate.upTo(1 << 20);

    /// As a handshake does.
    static void agree(EmbeddedChannel channel) {
        channel.pipeline().addFirst(answer(Map.of()).newExtensionEncoder());
    }

    private static WebSocketServerExtension answer(Map<String, String> offer) {
        WebSocketServerExtension extension =
                DEFLATE.handshakeExtension(new WebSocketExtensionData("permessage-deflate", offer));
        assertNotNull(extension, () -> "declined: " + offer);
        return extension;
    }

    private static Map<String, @Nullable String> answered(String name, @Nullable String value) {
        Map<String, String> offer = new HashMap<>();
        offer.put(name, value);
        return answer(offer).newReponseData().parameters();
    }

    @Test
    void answerAlwaysHasAFreshWindowForEachMessage() {
        Map<String, @Nullable String> plain = answer(Map.of()).newReponseData().parameters();
        assertTrue(plain.containsKey("server_no_context_takeover"), () -> plain.toString());
        // what Chromium offers
        assertTrue(answered("client_max_window_bits", null).containsKey("server_no_context_takeover"));
        assertTrue(answered("server_no_context_takeover", null).containsKey("server_no_context_takeover"));
        assertTrue(answered("client_no_context_takeover", null).containsKey("server_no_context_takeover"));
        assertEquals("permessage-deflate", answer(Map.of()).newReponseData().name());
    }

    @Test
    void windowThatTheJdkDoesNotHaveIsDeclined() {
        for (int bits = 8; bits < 15; bits++) {
            assertDeclined("server_max_window_bits", Integer.toString(bits));
        }
        assertEquals("15", answered("server_max_window_bits", "15").get("server_max_window_bits"));
    }

    @Test
    void clientsWindowIsItsOwn() {
        for (int bits = 8; bits <= 15; bits++) {
            answered("client_max_window_bits", Integer.toString(bits));
        }
    }

    @Test
    void forgedOfferIsDeclined() {
        for (String bits : new String[] {"", "7", "16", "08", "015", "-9", "1e1", "99999999999999999999", "１５", "x"}) {
            assertDeclined("server_max_window_bits", bits);
            assertDeclined("client_max_window_bits", bits);
        }
        assertDeclined("server_max_window_bits", null);
        assertDeclined("server_no_context_takeover", "1");
        assertDeclined("client_no_context_takeover", "true");
        assertDeclined("unknown", null);
        assertNull(DEFLATE.handshakeExtension(new WebSocketExtensionData("x-webkit-deflate-frame", Map.of())));
    }

    private static void assertDeclined(String name, @Nullable String value) {
        Map<String, String> offer = new HashMap<>();
        offer.put(name, value);
        assertNull(
                DEFLATE.handshakeExtension(new WebSocketExtensionData("permessage-deflate", offer)),
                () -> name + "=" + value);
    }

    @Test
    void channelSaysWhatItHasAgreedTo() {
        EmbeddedChannel channel = new EmbeddedChannel();
        assertFalse(SharedDeflate.isAgreed(channel));
        agree(channel);
        assertTrue(SharedDeflate.isAgreed(channel));
        channel.finish();
    }

    @Test
    void limitOfNothingIsRefused() {
        assertEquals(
                "a message has at least one byte: longest=0",
                assertThrows(IllegalArgumentException.class, () -> SharedDeflate.upTo(0))
                        .getMessage());
    }

    /// Compressed well and not at all; the client's last four bytes are left out (RFC 7692, 7.2.1).
    @Test
    void framesUpToTheBoundComeAndLongerOnesDoNot() {
        for (int bound : new int[] {1, 100, 512, 1000, 65_536, 300_000}) {
            for (boolean random : new boolean[] {false, true}) {
                byte[] right = content(bound, random);
                EmbeddedChannel server = decoding(bound);
                server.writeInbound(compressed(right));
                WebSocketFrame frame = server.readInbound();
                byte[] found = new byte[frame.content().readableBytes()];
                frame.content().readBytes(found);
                frame.release();
                assertArrayEquals(right, found);
                server.finishAndReleaseAll();
                EmbeddedChannel other = decoding(bound);
                BinaryWebSocketFrame longer = compressed(content(bound + 1025, random));
                assertThrows(DecoderException.class, () -> other.writeInbound(longer));
                other.finishAndReleaseAll();
            }
        }
    }

    private static EmbeddedChannel decoding(int bound) {
        WebSocketServerExtension extension = SharedDeflate.upTo(bound)
                .handshakeExtension(new WebSocketExtensionData("permessage-deflate", Map.of()));
        assertNotNull(extension);
        return new EmbeddedChannel(extension.newExtensionDecoder());
    }

    private static byte[] content(int bytes, boolean random) {
        byte[] content = new byte[bytes];
        if (random) {
            new Random(bytes).nextBytes(content);
        }
        return content;
    }

    private static BinaryWebSocketFrame compressed(byte[] content) {
        byte[] bytes = new byte[content.length + 1000];
        try (Deflater deflater = new Deflater(6, true)) {
            deflater.setInput(content);
            int length = deflater.deflate(bytes, 0, bytes.length, Deflater.SYNC_FLUSH);
            return new BinaryWebSocketFrame(true, 4, Unpooled.wrappedBuffer(bytes, 0, length - 4));
        }
    }
}
