// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds handlers that frame messages of their own kind and let bytes pass as they are: bytes that are written past
/// them arrive without a frame.
final class Framing {

    // by name: netty-codec-http need not be on the class path
    private static final String PACKAGE = "io.netty.handler.codec.http.websocketx.";
    private static final List<String> TYPES = List.of(
            PACKAGE + "WebSocketFrameEncoder",
            PACKAGE + "WebSocketProtocolHandler",
            PACKAGE + "WebSocketServerProtocolHandler",
            PACKAGE + "WebSocketClientProtocolHandler");
    private static final AttributeKey<Framing> SEEN = AttributeKey.valueOf(Framing.class, "seen");

    private static final ClassValue<Boolean> FRAMES = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return frames(type);
        }
    };

    private static final ClassValue<Set<Class<? extends ChannelHandler>>> VISIBLE = new ClassValue<>() {
        @Override
        protected Set<Class<? extends ChannelHandler>> computeValue(Class<?> type) {
            return visible(type.getClassLoader());
        }
    };

    // the ends of a pipeline when all of it was looked at
    private final @Nullable ChannelHandlerContext first;
    private final @Nullable ChannelHandlerContext last;
    // the types that frame, as its handlers, its channel and this class see them
    private final Class<? extends ChannelHandler>[] types;

    @SuppressWarnings("unchecked") // an array of a generic type
    private Framing(ChannelPipeline pipeline) {
        first = pipeline.firstContext();
        last = pipeline.lastContext();
        Set<Class<? extends ChannelHandler>> all = new HashSet<>(VISIBLE.get(Framing.class));
        all.addAll(VISIBLE.get(pipeline.channel().getClass()));
        for (Map.Entry<String, ChannelHandler> each : pipeline) {
            all.addAll(VISIBLE.get(each.getValue().getClass()));
        }
        types = all.toArray(Class[]::new);
    }

    /// A look at each handler's class: what a handshake has changed is seen by the next write.
    ///
    /// Netty makes a map for each walk over a pipeline, and none for the search for a class. So it is searched for
    /// the classes that the handlers of the last walk could see, and walked again when its ends have changed.
    ///
    /// @throws IllegalStateException if bytes would go out without a frame
    static void check(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        Attribute<Framing> attribute = channel.attr(SEEN);
        Framing seen = attribute.get();
        if (seen == null || seen.first != pipeline.firstContext() || seen.last != pipeline.lastContext()) {
            walk(channel);
            attribute.set(new Framing(pipeline));
            return;
        }
        for (Class<? extends ChannelHandler> type : seen.types) {
            if (pipeline.context(type) != null) {
                walk(channel);
            }
        }
    }

    private static void walk(Channel channel) {
        for (Map.Entry<String, ChannelHandler> each : channel.pipeline()) {
            if (FRAMES.get(each.getValue().getClass())) {
                throw new IllegalStateException("sealed bytes would go out without a frame, wrap them in one: handler="
                        + each.getKey() + " type=" + each.getValue().getClass().getName() + " channel=" + channel);
            }
        }
    }

    private static Set<Class<? extends ChannelHandler>> visible(@Nullable ClassLoader loader) {
        Set<Class<? extends ChannelHandler>> found = new HashSet<>();
        for (String type : TYPES) {
            try {
                found.add(Class.forName(type, false, loader).asSubclass(ChannelHandler.class));
            } catch (ClassNotFoundException | LinkageError | ClassCastException ignored) {
                // no handler of that loader is one
            }
        }
        return found;
    }

    private static boolean frames(Class<?> type) {
        for (@Nullable Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (TYPES.contains(each.getName())) {
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
}
