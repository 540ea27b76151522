// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.fanout.Fanout;
import io.bulla.fanout.SlowPolicy;
import io.bulla.interop.websocket.PreparedMessage;
import io.bulla.interop.websocket.PreparedMessageHandler;
import io.bulla.interop.websocket.PreparedMessages;
import io.bulla.refcount.LeaseTally;
import io.netty.channel.Channel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.BufferedReader;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/// One message, and one event, for many clients that none of us wrote, every byte compared, beside attackers.
///
/// ```
/// [--transport nio|epoll|io_uring] [--messages N] [--filler N] [--fragment BYTES] [--keys FILE PASSWORD]
/// [--client CONNECTIONS COMMAND]... [--reader CONNECTIONS COMMAND]...
/// ```
///
/// A command gets the address, the number of messages and the filler as arguments, makes so many connections, and
/// prints `client=NAME messages=N wrong=N` for each; another exit status than 0 says that something else is wrong. A
/// reader is one of server-sent events.
public final class WebSocketCheck {

    private static final Pattern LINE = Pattern.compile("client=(\\S+) messages=(\\d+) wrong=(\\d+).*");
    // a publisher waits so long for a client that is slow
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final Fanout feed =
            Fanout.builder().slow(SlowPolicy.WAIT).patience(PATIENCE).build();
    private final Fanout attacked =
            Fanout.builder().slow(SlowPolicy.DISCONNECT).queueMessages(8).build();
    private final AtomicInteger joined = new AtomicInteger();

    private Transport transport = Transport.NIO;
    private int messages = 2000;
    private int filler = 2500;
    private long fragment = 1 << 20;
    private @Nullable SslContext tls;
    private final List<List<String>> commands = new ArrayList<>();
    private final List<List<String>> readers = new ArrayList<>();
    private int expected;
    private int expectedReaders;
    // commands that ended with another status than 0
    private int failed;

    private WebSocketCheck() {}

    /// @param args as above
    /// @throws Exception if a client cannot be started, or an attack does not end
    public static void main(String[] args) throws Exception {
        WebSocketCheck check = new WebSocketCheck();
        check.read(List.of(args).iterator());
        Throwable missing = check.transport.missing();
        if (missing != null) {
            System.out.println("websocket: skipped: transport=" + check.transport + ": " + missing);
            System.exit(0);
        }
        System.exit(check.run() ? 0 : 1);
    }

    private void read(java.util.Iterator<String> args) throws Exception {
        while (args.hasNext()) {
            String option = args.next();
            switch (option) {
                case "--transport" -> transport = Transport.named(args.next());
                case "--messages" -> messages = Integer.parseInt(args.next());
                case "--filler" -> filler = Integer.parseInt(args.next());
                case "--fragment" -> fragment = Long.parseLong(args.next());
                case "--keys" -> tls = tls(Path.of(args.next()), args.next().toCharArray());
                case "--client" -> {
                    expected += Integer.parseInt(args.next());
                    commands.add(List.of(args.next().split(" ")));
                }
                case "--reader" -> {
                    expectedReaders += Integer.parseInt(args.next());
                    readers.add(List.of(args.next().split(" ")));
                }
                default -> throw new IllegalArgumentException("unknown option: " + option);
            }
        }
    }

    private static SslContext tls(Path keys, char[] password) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, password);
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, password);
        return SslContextBuilder.forServer(factory)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2,
                        ApplicationProtocolNames.HTTP_1_1))
                .build();
    }

    private boolean run() throws Exception {
        Texts texts = new Texts(filler);
        List<String> lines = new ArrayList<>();
        int attacks;
        EventFeed events = new EventFeed(memory, texts, messages, PATIENCE);
        try (FeedServer server = new FeedServer(transport, tls, this::join, events::answer)) {
            String place = (tls == null ? "" : "s") + "://127.0.0.1:" + server.port();
            URI uri = URI.create("ws" + place + "/feed");
            TrustAll trustAll = new TrustAll();
            SSLContext trust = SSLContext.getInstance("TLS");
            trust.init(null, new TrustManager[] {trustAll}, null);
            List<Process> clients = new ArrayList<>();
            for (List<String> command : commands) {
                clients.add(start(command, uri));
            }
            for (List<String> reader : readers) {
                clients.add(start(reader, URI.create("http" + place + "/events")));
            }
            List<Reading> own =
                    List.of(JdkClient.connect(uri, trust, texts), OkClient.connect(uri, trust, trustAll, texts));
            awaitAll("joined", joined, expected + own.size(), clients);
            awaitAll("readers", events.joined(), expectedReaders, clients);
            try (Attackers attackers = new Attackers(server.port(), tls == null ? null : trust.getSocketFactory())) {
                AtomicInteger count = new AtomicInteger();
                Thread attacking = Thread.ofPlatform().start(() -> {
                    try {
                        count.set(attackers.run());
                    } catch (Exception | AssertionError failure) {
                        System.out.println("websocket: " + failure);
                        count.set(-1);
                    }
                });
                publish(texts);
                events.publishFirst();
                awaitAll("came back", events.cameBack(), expectedReaders, clients);
                events.publishRest();
                attacking.join();
                attacks = count.get();
                attacked.close();
            }
            feed.complete();
            for (Reading each : own) {
                lines.add(each.await());
            }
            for (Process each : clients) {
                try (BufferedReader said = each.inputReader()) {
                    said.lines().forEach(lines::add);
                }
                failed += each.waitFor() == 0 ? 0 : 1;
            }
        }
        System.out.println("websocket: event-streams-over-http2=" + events.overHttp2());
        return verdict(lines, own() + expectedReaders, attacks) && events.wrongIds() == 0;
    }

    private static int own() {
        return 2;
    }

    private void join(Channel channel, String path) {
        if (path.startsWith("/feed")) {
            PreparedMessageHandler.of(channel).subscribe(feed::subscribe);
            joined.incrementAndGet();
        } else {
            PreparedMessageHandler.of(channel).subscribe(attacked::subscribe);
        }
    }

    private Process start(List<String> command, URI uri) throws Exception {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(uri.toString(), Integer.toString(messages), Integer.toString(filler)));
        return new ProcessBuilder(all)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void awaitAll(String what, AtomicInteger now, int count, List<Process> clients) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (now.get() < count) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("not all clients: what=" + what + " now=" + now + " wanted=" + count);
            }
            for (Process each : clients) {
                if (!each.isAlive()) {
                    throw new IllegalStateException("client ended early: " + each.info() + " " + what + "=" + now);
                }
            }
            Thread.sleep(20);
        }
    }

    private void publish(Texts texts) throws InterruptedException {
        PreparedMessages prepared =
                PreparedMessages.builder(memory).fragment(fragment).build();
        for (int i = 0; i < messages; i++) {
            try (PreparedMessage message = prepared.text(texts.text(i));
                    SealedBuffer forms = message.forms()) {
                feed.publish(forms);
                attacked.publish(forms);
            }
        }
    }

    private boolean verdict(List<String> lines, int least, int attacks) {
        long read = 0;
        long wrong = 0;
        int clients = 0;
        for (String line : lines) {
            System.out.println("websocket: " + line);
            Matcher client = LINE.matcher(line);
            if (client.matches()) {
                clients++;
                read += Long.parseLong(client.group(2));
                wrong += Long.parseLong(client.group(3)) + Math.abs(messages - Long.parseLong(client.group(2)));
            }
        }
        System.out.println("websocket: attacks=" + attacks + " of-those-closed-as-slow="
                + attacked.figures().droppedSubscribers());
        System.out.println("websocket: clients=" + clients + " messages=" + read + " wrong=" + wrong + " handles-open="
                + handles.open());
        if (failed > 0) {
            System.out.println("websocket: commands failed: count=" + failed);
        }
        return failed == 0 && clients == expected + least && wrong == 0 && handles.open() == 0 && attacks >= 0;
    }

    /// The certificate is of this run.
    private static final class TrustAll extends X509ExtendedTrustManager {

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
