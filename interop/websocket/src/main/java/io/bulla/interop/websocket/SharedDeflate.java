// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionData;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionDecoder;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionEncoder;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtension;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketServerExtensionHandshaker;
import io.netty.handler.codec.http.websocketx.extensions.compression.PerMessageDeflateServerExtensionHandshaker;
import io.netty.util.AttributeKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Negotiates permessage-deflate so that one compressed form of a message fits every channel: the answer always has
/// `server_no_context_takeover`, which a server may say unasked (RFC 7692, 7.1.1.1). An offer of a window smaller
/// than 32 KiB is declined, for the JDK's compressor has no other; such a client gets messages uncompressed, as does
/// one whose offer has a parameter that is unknown or wrong.
///
/// ```java
/// pipeline.addLast(new WebSocketServerExtensionHandler(SharedDeflate.upTo(1 << 20)));
/// pipeline.addLast(new WebSocketServerProtocolHandler("/feed", null, true));
/// pipeline.addLast(new PreparedMessageHandler());
/// ```
///
/// No channel has a compressor, some 256 KiB each: what is sent beside prepared messages, as Netty's own frames, goes
/// out uncompressed. What clients send is decompressed.
public final class SharedDeflate implements WebSocketServerExtensionHandshaker {

    private static final String NAME = "permessage-deflate";
    private static final String SERVER_BITS = "server_max_window_bits";
    private static final String CLIENT_BITS = "client_max_window_bits";
    private static final String SERVER_FRESH = "server_no_context_takeover";
    private static final String CLIENT_FRESH = "client_no_context_takeover";
    private static final Set<String> FRESH = Set.of(SERVER_FRESH, CLIENT_FRESH);
    private static final int MOST_BITS = 15;
    private static final int FEWEST_BITS = 8;
    // of Netty's own compressor, which is not used
    private static final int LEVEL = 6;
    // Netty's decompressor asks for more room, some 512 bytes, before it sees the end of a frame
    private static final int ROOM = 1 << 10;

    private static final AttributeKey<Boolean> AGREED = AttributeKey.valueOf(SharedDeflate.class, "agreed");

    private final PerMessageDeflateServerExtensionHandshaker netty;

    private SharedDeflate(int longest) {
        int most = (int) Math.min((long) longest + ROOM, Integer.MAX_VALUE);
        netty = new PerMessageDeflateServerExtensionHandshaker(LEVEL, true, MOST_BITS, true, false, most);
    }

    /// For one server or many: it has no state.
    ///
    /// @param longest the most bytes that a frame of a client's may have once it is decompressed: one that is
    ///     longer by more than 1 KiB, the room that Netty's decompressor asks for, ends its connection. A message
    ///     may come in several frames: `WebSocketFrameAggregator` bounds it as a whole
    /// @return a handshaker for `WebSocketServerExtensionHandler`
    /// @throws IllegalArgumentException if it is less than 1
    public static SharedDeflate upTo(int longest) {
        if (longest < 1) {
            throw new IllegalArgumentException("a message has at least one byte: longest=" + longest);
        }
        return new SharedDeflate(longest);
    }

    /// Whether a channel takes compressed messages.
    static boolean isAgreed(Channel channel) {
        return channel.hasAttr(AGREED);
    }

    @Override
    public @Nullable WebSocketServerExtension handshakeExtension(WebSocketExtensionData offer) {
        Map<String, @Nullable String> asked = new HashMap<>(offer.parameters());
        if (!NAME.equals(offer.name()) || !isTaken(asked)) {
            return null;
        }
        asked.put(SERVER_FRESH, null);
        WebSocketServerExtension agreed = netty.handshakeExtension(new WebSocketExtensionData(NAME, asked));
        return agreed == null ? null : new Agreed(agreed, asked.containsKey(SERVER_BITS));
    }

    private static boolean isTaken(Map<String, @Nullable String> parameters) {
        for (Map.Entry<String, @Nullable String> each : parameters.entrySet()) {
            String value = each.getValue();
            boolean taken = switch (each.getKey()) {
                case SERVER_BITS -> bits(value) == MOST_BITS;
                case CLIENT_BITS -> value == null || bits(value) >= FEWEST_BITS;
                default -> FRESH.contains(each.getKey()) && value == null;
            };
            if (!taken) {
                return false;
            }
        }
        return true;
    }

    /// @return 0 if it is no number of bits
    private static int bits(@Nullable String value) {
        if (value == null || value.isEmpty() || value.length() > 2 || value.startsWith("0")) {
            return 0;
        }
        int bits = 0;
        for (char digit : value.toCharArray()) {
            if (digit < '0' || digit > '9') {
                return 0;
            }
            bits = 10 * bits + digit - '0';
        }
        return bits <= MOST_BITS ? bits : 0;
    }

    /// What was agreed: Netty's words and decompressor, and no compressor.
    ///
    /// @param saysBits an offer that names the server's window is accepted by naming it (RFC 7692, 7.1.2.1)
    private record Agreed(WebSocketServerExtension netty, boolean saysBits) implements WebSocketServerExtension {

        @Override
        public int rsv() {
            return netty.rsv();
        }

        @Override
        public WebSocketExtensionEncoder newExtensionEncoder() {
            return new Marker();
        }

        @Override
        public WebSocketExtensionDecoder newExtensionDecoder() {
            return netty.newExtensionDecoder();
        }

        @Override
        public WebSocketExtensionData newReponseData() {
            WebSocketExtensionData answer = netty.newReponseData();
            if (!saysBits) {
                return answer;
            }
            Map<String, @Nullable String> parameters = new HashMap<>(answer.parameters());
            parameters.put(SERVER_BITS, Integer.toString(MOST_BITS));
            return new WebSocketExtensionData(NAME, parameters);
        }
    }

    /// Says of its channel that it takes compressed messages, and lets frames pass as they are.
    private static final class Marker extends WebSocketExtensionEncoder {

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            context.channel().attr(AGREED).set(true);
        }

        @Override
        public boolean acceptOutboundMessage(Object message) {
            return false;
        }

        @Override
        protected void encode(ChannelHandlerContext context, WebSocketFrame frame, List<Object> out) {
            throw new AssertionError("accepts no frame");
        }
    }
}
