// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Readers of a feed, in a process of their own, with the JDK's client.
 *
 * <p>java Browsers URI BROWSERS MESSAGES SIZE LEAVERS: each compares all bytes of the messages, in order, until the
 * server says that it was all. With LEAVERS the first two leave in the middle of the feed: one vanishes, one closes.
 */
public final class Browsers {

    private Browsers() {}

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        int leavers = Integer.parseInt(args[4]);
        AtomicInteger wrong = new AtomicInteger();
        CountDownLatch over = new CountDownLatch(count);
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int i = 0; i < count; i++) {
                Reader reader = new Reader(args, leavers > i ? 1 + i : 0, wrong, over);
                client.newWebSocketBuilder().buildAsync(URI.create(args[0]), reader).join();
            }
            if (!over.await(2, TimeUnit.MINUTES)) {
                wrong.addAndGet((int) over.getCount());
            }
            client.shutdownNow();
        }
        System.exit(wrong.get() == 0 ? 0 : 1);
    }

    private static final class Reader implements WebSocket.Listener {

        private static final int VANISHES = 1;

        private final int messages;
        private final int size;
        private final int leaves;
        private final AtomicInteger wrong;
        private final CountDownLatch over;
        private final StringBuilder text = new StringBuilder();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int next;
        private boolean gone;

        /** @param leaves 0: never, 1: vanishes, 2: closes */
        Reader(String[] args, int leaves, AtomicInteger wrong, CountDownLatch over) {
            this.messages = Integer.parseInt(args[2]);
            this.size = Integer.parseInt(args[3]);
            this.leaves = leaves;
            this.wrong = wrong;
            this.over = over;
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                onMessage(text.toString());
                text.setLength(0);
            }
            return goOn(socket);
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer part, boolean last) {
            byte[] some = new byte[part.remaining()];
            part.get(some);
            bytes.writeBytes(some);
            if (last) {
                onMessage(bytes.toString(StandardCharsets.UTF_8));
                bytes.reset();
            }
            return goOn(socket);
        }

        private void onMessage(String message) {
            if (!message.equals(Texts.text(next, size))) {
                fail("not message " + next + ": length=" + message.length());
            }
            next++;
        }

        private CompletionStage<?> goOn(WebSocket socket) {
            // while the server sends
            if (leaves > 0 && next >= messages / 4 && !gone) {
                gone = true;
                if (leaves == VANISHES) {
                    socket.abort();
                    over.countDown();
                } else {
                    socket.sendClose(WebSocket.NORMAL_CLOSURE, "seen enough");
                }
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            if (leaves == 0 && (code != WebSocket.NORMAL_CLOSURE || next != messages)) {
                fail("ended early: code=" + code + " next=" + next);
            }
            over.countDown();
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable failure) {
            if (leaves == 0) {
                fail("failed: " + failure + " next=" + next);
            }
            over.countDown();
        }

        private void fail(String what) {
            if (wrong.incrementAndGet() < 5) {
                System.err.println("browser: " + what);
            }
        }
    }
}
