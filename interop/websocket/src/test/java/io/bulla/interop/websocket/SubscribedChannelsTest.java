// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.End;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.fanout.Subscription;
import io.bulla.fanout.Topics;
import io.bulla.refcount.LeaseTally;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Channels as subscribers of a fan-out: ready, slow and over.
class SubscribedChannelsTest {

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final PreparedMessages messages =
            PreparedMessages.builder(memory).fragment(1024).build();

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    private static String text(int number) {
        return "message " + number + " ".repeat(number % 7 == 0 ? 3000 : 10);
    }

    private void publish(Fanout fanout, int number) throws InterruptedException {
        try (PreparedMessage message = messages.text(text(number));
                SealedBuffer forms = message.forms()) {
            fanout.publish(forms);
        }
    }

    private static void writable(EmbeddedChannel channel, boolean is) {
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, is);
        channel.runPendingTasks();
    }

    private static List<String> texts(EmbeddedChannel channel) throws Exception {
        List<String> texts = new ArrayList<>();
        StringBuilder parts = new StringBuilder();
        List<byte[]> compressed = new ArrayList<>();
        for (WebSocketFrame frame : FramesTest.frames(channel)) {
            if (frame instanceof CloseWebSocketFrame close) {
                texts.add("close " + close.statusCode());
                close.release();
                continue;
            }
            boolean isCompressed = frame.rsv() != 0 || !compressed.isEmpty();
            boolean last = frame.isFinalFragment();
            byte[] payload = FramesTest.payload(frame);
            if (isCompressed) {
                compressed.add(payload);
            } else {
                parts.append(new String(payload, StandardCharsets.UTF_8));
            }
            if (last) {
                texts.add(
                        isCompressed
                                ? new String(FramesTest.inflated(FramesTest.joined(compressed)), StandardCharsets.UTF_8)
                                : parts.toString());
                parts.setLength(0);
                compressed.clear();
            }
        }
        return texts;
    }

    private static List<String> texts(int from, int to) {
        List<String> texts = new ArrayList<>();
        for (int i = from; i < to; i++) {
            texts.add(text(i));
        }
        return texts;
    }

    @Test
    void eachChannelGetsTheFormThatItHasAgreedTo() throws Exception {
        Fanout fanout = Fanout.builder().build();
        EmbeddedChannel plain = FramesTest.server();
        EmbeddedChannel compressed = FramesTest.server();
        SharedDeflateTest.agree(compressed);
        for (EmbeddedChannel each : List.of(plain, compressed)) {
            PreparedMessageHandler.of(each).subscribe(fanout::subscribe);
        }
        for (int i = 0; i < 20; i++) {
            publish(fanout, i);
        }
        fanout.complete();
        plain.runPendingTasks();
        compressed.runPendingTasks();
        List<String> wanted = texts(0, 20);
        wanted.add("close 1000");
        assertEquals(wanted, texts(plain));
        assertEquals(wanted, texts(compressed));
        assertFalse(plain.isOpen());
        assertEquals(40, fanout.figures().sent());
    }

    @Test
    void formsAreTheFramesOfBoth() throws Exception {
        try (PreparedMessage message = messages.text(text(7));
                SealedBuffer forms = message.forms();
                Wire first = Wire.chosen(forms, false);
                Wire second = Wire.chosen(forms, true)) {
            assertEquals(3, first.ends().length);
            assertEquals(1, second.ends().length);
            assertEquals(
                    forms.byteSize(),
                    first.frames().byteSize() + second.frames().byteSize());
            assertArrayEquals(
                    message.form(false).frames().toByteArray(), first.frames().toByteArray());
            assertArrayEquals(
                    message.form(true).frames().toByteArray(), second.frames().toByteArray());
            assertArrayEquals(message.form(false).ends(), first.ends());
            assertArrayEquals(message.form(true).ends(), second.ends());
        }
        try (PreparedMessage message = messages.text("short");
                SealedBuffer forms = message.forms();
                Wire only = Wire.chosen(forms, true)) {
            assertEquals(7, only.frames().byteSize());
        }
    }

    @Test
    void slowChannelGetsWhatItsPolicySays() throws Exception {
        for (SlowPolicy policy : List.of(SlowPolicy.DROP_OLDEST, SlowPolicy.LATEST_ONLY, SlowPolicy.DISCONNECT)) {
            Fanout fanout = Fanout.builder().slow(policy).queueMessages(3).build();
            EmbeddedChannel slow = FramesTest.server();
            EmbeddedChannel quick = FramesTest.server();
            Subscription waits = PreparedMessageHandler.of(slow).subscribe(fanout::subscribe);
            PreparedMessageHandler.of(quick).subscribe(fanout::subscribe);
            publish(fanout, 0);
            writable(slow, false);
            for (int i = 1; i < 10; i++) {
                publish(fanout, i);
            }
            assertTrue(waits.queued() <= 3, policy + " " + waits);
            writable(slow, true);
            List<String> wanted = new ArrayList<>(List.of(text(0)));
            switch (policy) {
                case DROP_OLDEST -> wanted.addAll(texts(7, 10));
                case LATEST_ONLY -> wanted.add(text(9));
                default -> wanted.add("close 1013");
            }
            assertEquals(wanted, texts(slow), policy.name());
            assertEquals(policy != SlowPolicy.DISCONNECT, slow.isOpen());
            assertEquals(texts(0, 10), texts(quick));
            fanout.close();
            quick.runPendingTasks();
            assertEquals(List.of("close 1001"), texts(quick));
            slow.finishAndReleaseAll();
        }
    }

    @Test
    void channelThatEndsLeaves() throws Exception {
        for (boolean removed : new boolean[] {false, true}) {
            Fanout fanout = Fanout.builder().build();
            EmbeddedChannel channel = FramesTest.server();
            PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
            Subscription waits = handler.subscribe(fanout::subscribe);
            writable(channel, false);
            publish(fanout, 1);
            assertEquals(1, waits.queued());
            if (removed) {
                channel.pipeline().remove(handler);
            } else {
                channel.close();
            }
            assertInstanceOf(End.Left.class, waits.why());
            assertEquals(0, fanout.figures().subscribers());
            // one that comes too late leaves at once
            assertInstanceOf(
                    End.Left.class, handler.subscribe(fanout::subscribe).why());
            assertEquals(0, handles.open());
            channel.finishAndReleaseAll();
        }
    }

    /// A handler that is added behind a check takes a while to come, and the client may be gone by then.
    @Test
    void channelThatIsOverLeavesAtOnce() throws Exception {
        Fanout fanout = Fanout.builder().slow(SlowPolicy.DROP_OLDEST).build();
        EmbeddedChannel gone = new EmbeddedChannel(new WebSocket13FrameEncoder(false));
        gone.close();
        PreparedMessageHandler handler = new PreparedMessageHandler();
        gone.pipeline().addLast(handler);
        assertInstanceOf(End.Left.class, handler.subscribe(fanout::subscribe).why());
        publish(fanout, 7);
        assertEquals(0, fanout.figures().subscribers());
        try (PreparedMessage message = messages.text(text(7))) {
            assertInstanceOf(
                    ClosedChannelException.class, handler.write(message).cause());
        }
    }

    @Test
    void aClientThatChangesItsTopicsKeepsNothingOfThoseItLeft() throws Exception {
        try (Topics<String> topics = Fanout.builder().topics()) {
            EmbeddedChannel channel = FramesTest.server();
            PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
            Subscription stays = handler.subscribe(to -> topics.subscribe(to, List.of("EUR")));
            List<WeakReference<Subscription>> left = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                Subscription gone = handler.subscribe(to -> topics.subscribe(to, List.of("USD")));
                gone.leave();
                left.add(new WeakReference<>(gone));
            }
            for (int i = 0; i < 50 && left.size() > 16; i++) {
                System.gc();
                left.removeIf(each -> each.get() == null);
            }
            assertTrue(left.size() <= 16, "kept=" + left.size());
            assertTrue(stays.isOpen());
            channel.finishAndReleaseAll();
            assertInstanceOf(End.Left.class, stays.why());
        }
    }

    @Test
    void completedChannelIsClosedBehindItsLastMessage() throws Exception {
        Fanout fanout = Fanout.builder().build();
        EmbeddedChannel channel = FramesTest.server();
        PreparedMessageHandler handler = PreparedMessageHandler.of(channel);
        handler.subscribe(fanout::subscribe);
        publish(fanout, 7);
        writable(channel, false);
        publish(fanout, 14);
        fanout.complete();
        assertTrue(channel.isOpen());
        writable(channel, true);
        assertEquals(List.of(text(7), text(14), "close 1000"), texts(channel));
        assertFalse(channel.isOpen());
    }

    @Test
    void topicsReachTheirChannelsBesideOtherFrames() throws Exception {
        Topics<String> topics = Fanout.builder().slow(SlowPolicy.CONFLATE).topics();
        EmbeddedChannel channel = FramesTest.server();
        PreparedMessageHandler.of(channel).subscribe(subscriber -> topics.subscribe(subscriber, List.of("a", "b")));
        writable(channel, false);
        for (String topic : List.of("a", "b", "c", "a")) {
            try (PreparedMessage message = messages.text(topic + handles.open());
                    SealedBuffer forms = message.forms()) {
                topics.publish(topic, forms);
            }
        }
        writable(channel, true);
        channel.writeAndFlush(new TextWebSocketFrame("own"));
        List<String> texts = texts(channel);
        assertEquals(3, texts.size());
        assertTrue(texts.get(0).startsWith("a") && texts.get(1).startsWith("b"), texts::toString);
        assertEquals("own", texts.get(2));
        topics.close();
        channel.runPendingTasks();
        FramesTest.frames(channel).forEach(ReferenceCountUtil::release);
    }
}
