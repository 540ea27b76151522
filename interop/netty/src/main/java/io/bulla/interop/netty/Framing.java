// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Finds handlers that frame messages of their own kind and let bytes pass as they are: bytes that are written past
/// them arrive without a frame.
final class Framing {

    // by name: netty-codec-http need not be on the class path
    private static final String PACKAGE = "io.netty.handler.codec.http.websocketx.";

    private static final ClassValue<Boolean> FRAMES = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return frames(type);
        }
    };

    private Framing() {}

    /// A look at each handler's class: what a handshake has changed is seen by the next write.
    ///
    /// @throws IllegalStateException if bytes would go out without a frame
    static void check(Channel channel) {
        for (Map.Entry<String, ChannelHandler> each : channel.pipeline()) {
            if (FRAMES.get(each.getValue().getClass())) {
                throw new IllegalStateException("sealed bytes would go out without a frame, wrap them in one: handler="
                        + each.getKey() + " type=" + each.getValue().getClass().getName() + " channel=" + channel);
            }
        }
    }

    private static boolean frames(Class<?> type) {
        for (@Nullable Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (isFraming(each.getName())) {
                return true;
            }
            for (Class<?> face : each.getInterfaces()) {
                if (frames(face)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isFraming(String name) {
        return name.startsWith(PACKAGE)
                && (name.equals(PACKAGE + "WebSocketFrameEncoder")
                        || name.equals(PACKAGE + "WebSocketProtocolHandler")
                        || name.equals(PACKAGE + "WebSocketServerProtocolHandler")
                        || name.equals(PACKAGE + "WebSocketClientProtocolHandler"));
    }
}
