// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.websocket.EventStream;
import io.bulla.interop.websocket.ServerSentEvents;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Once a second, what the server used: to the pages that listen, as server-sent events. */
final class Figures implements AutoCloseable {

    private static final int SECONDS_KEPT = 180;

    private final Fanout pages = Fanout.builder().slow(SlowPolicy.DROP_OLDEST).build();
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("figures").factory());
    private final ServerSentEvents events;
    private final Ticker ticker;
    private final ClientProcess clients;

    // guarded by this
    private final Deque<String> kept = new ArrayDeque<>();
    // the clock's
    private Usage last = Usage.now();
    private long lastSent;

    Figures(MemorySource memory, Ticker ticker, ClientProcess clients) {
        this.events = new ServerSentEvents(memory);
        this.ticker = ticker;
        this.clients = clients;
    }

    void start() {
        clock.scheduleAtFixedRate(this::tell, 1, 1, TimeUnit.SECONDS);
    }

    /** Answers a page's request: what was, then what comes. */
    void open(Channel page, HttpRequest request) {
        EventStream stream = EventStream.open(page, request);
        synchronized (this) {
            try (SealedBuffer before = events.event(null, "history", "[" + String.join(",", kept) + "]")) {
                stream.write(before);
            }
            stream.subscribe(pages::subscribe);
        }
    }

    private void tell() {
        try {
            String json = next();
            synchronized (this) {
                kept.addLast(json);
                if (kept.size() > SECONDS_KEPT) {
                    kept.removeFirst();
                }
                try (SealedBuffer event = events.event(json)) {
                    pages.publish(event);
                }
            }
        } catch (InterruptedException | IllegalStateException e) {
            // closed
        } catch (RuntimeException failure) {
            System.err.println("websocket-feed: figures failed: " + failure);
        }
    }

    private String next() {
        Usage now = Usage.now();
        long sent = ticker.sent();
        double seconds = (now.nanos() - last.nanos()) / 1e9;
        long cpuNanos = now.cpuNanos() - last.cpuNanos();
        double perSecond = (sent - lastSent) / seconds;
        String json = String.format(
                Locale.ROOT,
                "{\"at\":%d,\"mode\":\"%s\",\"cpu\":%.1f,\"heap\":%d,\"resident\":%d,\"sent\":%.0f,\"each\":%.2f,"
                        + "\"missed\":%d,\"connected\":%d,\"others\":{\"open\":%d,\"wrong\":%d,\"received\":%d}}",
                System.currentTimeMillis(),
                ticker.mode().word(),
                cpuNanos / 1e7 / seconds,
                now.heapBytes(),
                now.residentBytes(),
                perSecond,
                // microseconds of processor time for a message to one client
                cpuNanos / 1e3 / Math.max(1, sent - lastSent),
                ticker.missed(),
                ticker.connected(),
                clients.open(),
                clients.wrong(),
                clients.received());
        last = now;
        lastSent = sent;
        return json;
    }

    @Override
    public void close() {
        clock.shutdownNow();
        pages.close();
    }
}
