// SPDX-License-Identifier: Apache-2.0
package com.example.feed;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.websocket.PreparedMessage;
import io.bulla.interop.websocket.PreparedMessages;
import io.bulla.refcount.LeaseTally;
import io.netty.channel.Channel;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** One feed for all clients of a server, whatever its framework, and the trial of that server: see {@link Trial}. */
public final class Feed {

    /** How messages are given to the framework. */
    public enum How {
        /** A frame is made once, and handed to each client's channel. */
        PREPARED,
        /** The framework gets the shared bytes, and frames them for each client. */
        PAYLOAD,
        /** The framework gets a text. */
        PLAIN
    }

    /** A message; its handle is open during the call that gets it. */
    public record Message(String text, SealedBuffer utf8) {}

    /** A client as its framework shows it, where its channel is not used. */
    public interface Session {

        /** Sends a message. */
        CompletionStage<?> send(Message message);

        /** Says that it was all, and closes. */
        void close();
    }

    /** A server that runs. */
    public record Running(int port, Runnable stop) {}

    /** A server of some framework. */
    public interface Server {

        /** Starts it. Its WebSocket is at /feed of the loopback address, on a free port. */
        Running start(Feed feed) throws Exception;
    }

    private static final int PATIENCE_SECONDS = 60;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.create(MemoryBudget.ofProcess(), handles);
    private final PreparedMessages messages = PreparedMessages.builder(memory).build();
    private final Fanout fanout = Fanout.builder().slow(SlowPolicy.WAIT).build();
    private final List<Session> sessions = new CopyOnWriteArrayList<>();
    private final WireProbe probe = new WireProbe();
    private final Trial trial;
    private final BlockingQueue<Channel> joined = new LinkedBlockingQueue<>();

    private Feed(Trial trial) {
        this.trial = trial;
    }

    /** The whole trial of a server, from the arguments of its program. */
    public static void run(String name, String[] arguments, Server server) throws Exception {
        Trial trial = Trial.of(arguments);
        Feed feed = new Feed(trial);
        boolean right = false;
        try {
            right = feed.send(server);
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        System.out.println(name + ", " + trial.how().name().toLowerCase(Locale.ROOT) + ": browsers=" + trial.browsers()
                + " messages=" + trial.messages() + (right ? " right" : " WRONG") + " copied=" + feed.probe.copied()
                + " handles-open=" + feed.handles.open());
        System.exit(right ? 0 : 1);
    }

    /** How this trial gives messages away. */
    public How how() {
        return trial.how();
    }

    /** For the subscribers of --prepared. */
    public Fanout fanout() {
        return fanout;
    }

    /** A client of --prepared, whose channel is subscribed. */
    public void joined(Channel channel) {
        channel.pipeline().addFirst(probe);
        joined.add(channel);
    }

    /** A client of the other two. */
    public void joined(Channel channel, Session session) {
        sessions.add(session);
        joined(channel);
    }

    private boolean send(Server server) throws Exception {
        List<Message> all = new ArrayList<>();
        for (int i = 0; i < trial.messages(); i++) {
            String text = Texts.text(i, trial.size());
            all.add(new Message(text, sealed(text)));
        }
        Running running = server.start(this);
        URI uri = URI.create("ws://127.0.0.1:" + running.port() + "/feed");
        if (how() == How.PREPARED) {
            attack(uri);
        }
        Process browsers = trial.startBrowsers(uri);
        for (int i = 0; i < trial.browsers(); i++) {
            awaitClient();
        }
        int half = all.size() / 2;
        publish(all.subList(0, half));
        awaitHandles(all.size() - half);
        Figures before = Figures.now();
        publish(all.subList(half, all.size()));
        awaitHandles(0);
        Figures after = Figures.now();
        fanout.complete();
        sessions.forEach(Session::close);
        boolean right = browsers.waitFor() == 0;
        running.stop().run();
        if (trial.figures()) {
            long sends = (long) (all.size() - half) * trial.browsers();
            System.out.println("  per message and client: " + after.since(before, sends));
        }
        return right && awaitHandles(0) && (how() != How.PREPARED || isShared());
    }

    private void attack(URI uri) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            WebSocket victim = client.newWebSocketBuilder().buildAsync(uri, new WebSocket.Listener() {}).join();
            Attacks.run(memory, messages, fanout, awaitClient());
            victim.abort();
            client.shutdownNow();
        }
    }

    private Channel awaitClient() throws InterruptedException {
        Channel client = joined.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (client == null) {
            throw new IllegalStateException("not all clients came");
        }
        return client;
    }

    private boolean isShared() {
        long least = (long) (trial.browsers() - trial.leavers()) * trial.messages();
        return probe.copied() == 0 && probe.shared() >= least;
    }

    private SealedBuffer sealed(String text) {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            return builder.put(text.getBytes(StandardCharsets.UTF_8)).seal();
        }
    }

    private void publish(List<Message> some) throws InterruptedException {
        for (Message each : some) {
            try (SealedBuffer utf8 = each.utf8()) {
                if (how() == How.PREPARED) {
                    publishPrepared(utf8);
                } else {
                    probe.expect(utf8);
                    sendToSessions(each);
                }
            }
        }
    }

    private void publishPrepared(SealedBuffer utf8) throws InterruptedException {
        // nothing compresses here
        try (PreparedMessage message = messages.textUncompressed(utf8);
                SealedBuffer forms = message.forms()) {
            probe.expect(forms);
            fanout.publish(forms);
            // twice is harmless, and takes nothing from those who wait
            message.close();
            forms.close();
        }
    }

    private void sendToSessions(Message message) throws InterruptedException {
        Map<Session, CompletionStage<?>> sent = new LinkedHashMap<>();
        for (Session each : sessions) {
            try {
                sent.put(each, each.send(message));
            } catch (RuntimeException failure) {
                left(each, failure);
            }
        }
        sent.forEach((session, done) -> {
            try {
                done.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (Exception failure) {
                left(session, failure);
            }
        });
    }

    private void left(Session session, Exception failure) {
        sessions.remove(session);
        if (sessions.size() < trial.browsers() - trial.leavers()) {
            throw new IllegalStateException("more clients left than wanted", failure);
        }
    }

    /** Whether no more than these are open, in the end. */
    private boolean awaitHandles(int most) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (handles.open() > most && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        return handles.open() <= most;
    }
}
