// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.oob.Siege.Attack;
import io.bulla.runtime.oob.internal.wire.Frame;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.security.NodeFiles;
import io.bulla.runtime.oob.security.Security;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Thousands of unknown peers say whatever they like at a node's port, while an honest peer talks with it: each is
/// refused in time and counted in the log, which stays short; the node's memory stays as it was; the honest
/// peer does not notice.
class HostileTest {

    private static final Duration DEADLINE = Duration.ofMillis(500);
    /// So that each stranger gets to say its words.
    private static final ConnectionLimits OPEN_DOOR = new ConnectionLimits(64, 4096, 1 << 20);

    private static final int AT_ONCE = 48;
    private static final int FLOOD = 400;
    private static final int WINDOW = 16;
    private static final int WORDS = 1000;
    private static final long MOST_BYTES = 1 << 20;
    private static final Pattern COUNT = Pattern.compile("^refused connections: rank=1 count=(\\d+) ");
    /// In a hundred of those that `./check faults` has.
    private static final int SHARE = Integer.getInteger("bulla.siege", 25);

    private static final long SEED = Long.getLong("bulla.seed", System.nanoTime());

    /// What the process has.
    private record Figures(long heap, long direct, long channels, long source, long descriptors) {

        @Override
        public String toString() {
            return "heap=" + heap + " direct=" + direct + " channels=" + channels + " source=" + source
                    + " descriptors=" + descriptors;
        }
    }

    @TempDir
    Path folder;

    private final Cluster cluster = new Cluster();
    private final MeteredSource landing = new MeteredSource(cluster.source);
    private final UnpooledByteBufAllocator channels = new UnpooledByteBufAllocator(true);
    private final Semaphore window = new Semaphore(WINDOW);
    private Proxy proxy;
    private int said;
    private volatile boolean over;

    @AfterEach
    void nothingIsLeft() throws Exception {
        proxy.close();
        cluster.close();
    }

    @Test
    void strangersAtAnOpenPortAreRefusedAndChangeNothing() throws Exception {
        start(Security.plaintext(), Security.plaintext(), OPEN_DOOR);
        besiege("plaintext", plainAttacks(), 3 * SHARE, AT_ONCE);
        assertEquals(0, cluster.node(1).refusedConnections());
    }

    @Test
    void strangersAtATlsPortAreRefusedAndChangeNothing() throws Exception {
        NodeFiles files = NodeFiles.in(folder);
        start(files.certified(0), files.certified(1), OPEN_DOOR);
        besiege("tls", tlsAttacks(files), 120 * SHARE / 100, AT_ONCE);
    }

    @Test
    void floodIsClosedAtOnceByTheLimitsThatAreTheDefault() throws Exception {
        start(Security.plaintext(), Security.plaintext(), ConnectionLimits.DEFAULT);
        besiege("flood", List.of(new Attack("silent", (socket, random) -> {})), 60 * SHARE, FLOOD);
        assertTrue(cluster.node(1).refusedConnections() > 0);
    }

    private void start(Security zero, Security one, ConnectionLimits limits) throws Exception {
        proxy = new Proxy(() -> cluster.address(1));
        cluster.directory = peer -> peer == 1 ? proxy.address() : null;
        Duration patience = Duration.ofSeconds(30);
        cluster.add(0, 3, setup -> setup.security(zero).peerTimeout(patience));
        cluster.add(
                1,
                3,
                setup -> setup.security(one)
                        .peerTimeout(patience)
                        .memory(landing)
                        .allocator(channels)
                        .connections(limits)
                        .helloDeadline(DEADLINE));
        cluster.send(0, 1, said++, WORDS).get(20, TimeUnit.SECONDS);
        // a machine that is busy may have refused the honest one, too, with handshakes that took too long
        while (cluster.log.stream().anyMatch(line -> line.startsWith("refused "))) {
            cluster.log.clear();
            Thread.sleep(1200);
        }
    }

    private void besiege(String what, List<Attack> attacks, int each, int atOnce) throws Exception {
        InetSocketAddress target = cluster.address(1);
        // so that classes are loaded and pools are filled
        new Siege(target, atOnce).run(attacks, 10, SEED);
        awaitLines(10 * attacks.size());
        Figures before = figures();
        landing.forgetPeak();
        Thread honest = Thread.ofPlatform().start(this::talk);
        Siege siege = new Siege(target, atOnce);
        long start = System.nanoTime();
        siege.run(attacks, each, SEED + 1);
        double seconds = (System.nanoTime() - start) / 1e9;
        over = true;
        honest.join();
        int lines = awaitLines(each * attacks.size());
        Cluster.await("source", () -> landing.used() == before.source);
        // heartbeats go on, and a read has a buffer for as long as it takes
        Cluster.await("channels", () -> channels.metric().usedDirectMemory() == 0);
        Figures after = figures();
        System.out.printf(
                "hostile: port=%s seed=%d connections=%d seconds=%.1f slowest-ms=%d lines=%d most-source=%d"
                        + " honest=%d%n",
                what, SEED, each * attacks.size(), seconds, siege.slowestMillis(), lines, landing.peak(), said);
        System.out.println("hostile: before " + before + System.lineSeparator() + "hostile: after  " + after);
        assertEquals(List.of(), List.copyOf(siege.unharmed));
        // a kind has its first line, and then one a second
        assertTrue(lines <= 3 * attacks.size() * (seconds + 2), () -> "lines=" + lines);
        assertFlat(before, after);
        assertUndisturbed();
    }

    private void assertFlat(Figures before, Figures after) {
        assertTrue(landing.peak() < MOST_BYTES, () -> "most-source=" + landing.peak());
        assertTrue(after.heap - before.heap < 4 * MOST_BYTES, "heap");
        assertTrue(after.direct - before.direct < MOST_BYTES, "direct");
        assertTrue(after.descriptors - before.descriptors < 4, "descriptors");
    }

    private void assertUndisturbed() throws InterruptedException {
        for (int i = 0; i < said; i++) {
            assertEquals("1 from 0: " + i, cluster.next());
        }
        PeerStats sender = cluster.node(0).stats().getFirst();
        assertEquals(said, sender.sentMessages());
        assertEquals(1, sender.connections());
        assertEquals(0, sender.resends() + sender.failures());
    }

    /// The honest peer.
    private void talk() {
        while (!over) {
            window.acquireUninterruptibly();
            cluster.send(0, 1, said++, WORDS).whenComplete((delivery, failure) -> window.release());
            // what it has said is kept until it is compared
            LockSupport.parkNanos(500_000);
        }
        window.acquireUninterruptibly(WINDOW);
    }

    /// Waits until so many connections are accounted for.
    ///
    /// @return in how many lines
    private int awaitLines(int connections) throws InterruptedException {
        int counted = 0;
        int lines = 0;
        while (counted < connections) {
            String line = Cluster.line(cluster.log, "refused ");
            Matcher count = COUNT.matcher(line);
            counted += count.find() ? Integer.parseInt(count.group(1)) : 1;
            lines++;
        }
        assertEquals(connections, counted);
        return lines;
    }

    private Figures figures() throws Exception {
        Figures least = null;
        // what is freed by a collection is freed a little later
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(50);
            Runtime runtime = Runtime.getRuntime();
            least = new Figures(
                    runtime.totalMemory() - runtime.freeMemory(),
                    direct(),
                    channels.metric().usedDirectMemory(),
                    landing.used(),
                    descriptors());
        }
        return least;
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static long descriptors() throws Exception {
        try (Stream<Path> open = Files.list(Path.of("/dev/fd"))) {
            return open.count();
        }
    }

    private List<Attack> plainAttacks() {
        ByteBuffer replay = ByteBuffer.wrap(proxy.overheard());
        byte[] hello = new byte[Frame.BYTES + Hello.BYTES];
        replay.get(hello);
        List<Attack> attacks = new ArrayList<>(anywhere(hello));
        attacks.add(new Attack("replay", (socket, random) -> say(socket, hello)));
        attacks.add(new Attack("header", (socket, random) -> {
            byte[] words = bytes(random, Frame.BYTES);
            System.arraycopy(hello, 0, words, 0, 5);
            say(socket, words);
        }));
        attacks.add(new Attack("oversized hello", (socket, random) -> {
            byte[] words = hello.clone();
            say(
                    socket,
                    ByteBuffer.wrap(words)
                            .putInt(56, 257 + random.nextInt(1 << 30))
                            .array());
        }));
        attacks.add(new Attack(
                "oversized message",
                (socket, random) -> say(
                        socket,
                        Wire.frame(Frame.Kind.DIRECT, 0, 0, 0, Long.MAX_VALUE >>> random.nextInt(40), 16 << 20, 1)
                                .array())));
        attacks.add(new Attack(
                "versions to come",
                (socket, random) -> say(
                        socket,
                        Wire.hello(5, 5 + random.nextInt(9), 0, 3, 1, 77, 0).array())));
        attacks.add(new Attack(
                "version of the header",
                (socket, random) -> say(
                        socket, ByteBuffer.wrap(hello.clone()).put(4, (byte) 2).array())));
        attacks.add(new Attack(
                "other job",
                (socket, random) -> say(socket, Wire.hello(4, 4, 0, 5, 1, 77, 0).array())));
        return attacks;
    }

    private List<Attack> tlsAttacks(NodeFiles files) throws Exception {
        byte[] conversation = proxy.overheard();
        SSLContext noCertificate = files.stranger(false);
        SSLContext somebodyElse = files.stranger(true);
        List<Attack> attacks = new ArrayList<>(anywhere(conversation));
        attacks.add(new Attack("replay", (socket, random) -> say(socket, conversation)));
        attacks.add(new Attack(
                "plaintext",
                (socket, random) -> say(socket, Wire.hello(4, 4, 0, 3, 1, 77, 0).array())));
        attacks.add(new Attack("no certificate", (socket, random) -> handshake(noCertificate, "TLSv1.3", socket)));
        attacks.add(new Attack("wrong certificate", (socket, random) -> handshake(somebodyElse, "TLSv1.3", socket)));
        attacks.add(new Attack("old version", (socket, random) -> handshake(somebodyElse, "TLSv1.2", socket)));
        return attacks;
    }

    /// Needs no knowledge of the protocol, but what honest peers were heard to say.
    private static List<Attack> anywhere(byte[] heard) {
        return List.of(
                new Attack("random", (socket, random) -> say(socket, bytes(random, 1 + random.nextInt(2000)))),
                new Attack("truncated", (socket, random) -> {
                    socket.getOutputStream().write(heard, 0, 1 + random.nextInt(99));
                    socket.shutdownOutput();
                }),
                new Attack("drip", (socket, random) -> {
                    for (int i = 0; i < 100; i++) {
                        socket.getOutputStream().write(heard, i, 1);
                        Thread.sleep(40);
                    }
                }),
                new Attack("silent", (socket, random) -> {}),
                new Attack("reset", (socket, random) -> {
                    socket.setSoLinger(true, 0);
                    socket.close();
                }));
    }

    private static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void say(Socket socket, byte[] words) throws Exception {
        socket.getOutputStream().write(words);
    }

    private static void handshake(SSLContext context, String version, Socket socket) throws Exception {
        SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(socket, "there", 1, false);
        tls.setEnabledProtocols(new String[] {version});
        tls.startHandshake();
        tls.getOutputStream().write(1);
        tls.getInputStream().readAllBytes();
    }
}
