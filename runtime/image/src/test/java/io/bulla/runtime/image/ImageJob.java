// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.Send;
import io.bulla.runtime.oob.Transport;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// One or both of two nodes that send each other numbered messages, in a process of its own, of which images
/// are taken when a file asks for one. What it says it writes to files; it has no pipe.
///
/// Arguments: folder, ranks such as `01` or `0`, file of criu, seconds of the peer timeout, and `ring` for
/// loops that have one.
final class ImageJob {

    private static final int TAG = 3;
    private static final int ON_THEIR_WAY = 400;
    private static final ValueLayout.OfInt NUMBER = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final Path folder;
    private final ArenaSource source = ArenaSource.create();
    private final List<One> nodes = new ArrayList<>();

    private ImageJob(Path folder) {
        this.folder = folder;
    }

    public static void main(String... args) throws Exception {
        ImageJob job = new ImageJob(Path.of(args[0]));
        String ranks = args[1];
        for (char rank : ranks.toCharArray()) {
            job.nodes.add(job.new One(rank - '0', Long.parseLong(args[3]), args.length > 4));
        }
        Standstill standstill = Standstill.of(
                StandstillOptions.DEFAULT
                        .bind(node -> new InetSocketAddress(node.address().getAddress(), 0))
                        .publish(job::publish)
                        .patience(Duration.ofSeconds(60)),
                job.nodes.stream().map(one -> one.node).toArray(OobNode[]::new));
        job.run(ranks, new CriuAdapter(Criu.at(Path.of(args[2])), standstill));
    }

    private void run(String ranks, CriuAdapter adapter) throws Exception {
        for (One one : nodes) {
            publish(one.node, one.node.address());
            Thread.ofPlatform().start(one::send);
        }
        say(ranks, "runs");
        int images = 0;
        while (!Files.exists(folder.resolve("stop"))) {
            Path image = folder.resolve("image-" + ranks + "-" + images);
            if (Files.exists(folder.resolve("take-" + images))) {
                say(
                        ranks,
                        "on their way: "
                                + nodes.stream().mapToInt(One::onTheirWay).sum());
                try {
                    adapter.dump(image);
                    say(ranks, "restored " + images);
                } catch (IOException failure) {
                    say(ranks, "failed " + images + ": " + failure.getMessage());
                }
                images++;
            }
            Thread.sleep(5);
        }
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        for (One one : nodes) {
            one.finish(end);
        }
        for (One one : nodes) {
            say(ranks, one.total(end));
        }
        // who closes first is a verdict of the other
        while ((read("over-0") == null || read("over-1") == null) && System.nanoTime() < end) {
            Thread.sleep(10);
        }
        nodes.forEach(one -> one.node.close(Duration.ofSeconds(10)));
        say(ranks, "ends");
        System.exit(0);
    }

    private synchronized void say(String ranks, String line) throws IOException {
        Files.writeString(
                folder.resolve("said-" + ranks), line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private void publish(OobNode node, InetSocketAddress address) {
        write("address-" + node.rank(), address.getPort());
    }

    private void write(String name, int number) {
        try {
            Path part = folder.resolve(name + ".part");
            Files.writeString(part, Integer.toString(number));
            Files.move(part, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private @Nullable Integer read(String name) {
        try {
            return Integer.valueOf(Files.readString(folder.resolve(name)));
        } catch (IOException notThereYet) {
            return null;
        }
    }

    private @Nullable InetSocketAddress addressOf(int peer) {
        Integer port = read("address-" + peer);
        return port == null ? null : new InetSocketAddress("127.0.0.1", port);
    }

    /// A node, what it has sent and what it has received.
    private final class One {

        private final int rank;
        private final OobNode node;
        private final Semaphore room = new Semaphore(ON_THEIR_WAY);
        private final AtomicInteger sent = new AtomicInteger();
        private final AtomicInteger acknowledged = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();
        private final Queue<String> verdicts = new ConcurrentLinkedQueue<>();
        // of the handlers' thread
        private volatile int expected;
        private volatile int lost;
        private volatile int doubled;
        private volatile boolean sends = true;

        One(int rank, long timeout, boolean ring) throws IOException {
            this.rank = rank;
            OobNodeBuilder builder = OobNode.builder(rank, 2)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(ImageJob.this::addressOf)
                    .peerTimeout(Duration.ofSeconds(timeout))
                    .fragment(4096)
                    .onPeerLost((peer, cause) -> verdicts.add(String.valueOf(cause.getMessage())))
                    .receive(TAG, this::receive);
            this.node = (ring ? withRing(builder) : builder).start();
        }

        private static OobNodeBuilder withRing(OobNodeBuilder builder) {
            return builder.transport(new Transport(
                    IoUringIoHandler.newFactory(), IoUringServerSocketChannel.class, IoUringSocketChannel.class));
        }

        private void receive(Message message) {
            int number = message.buffer().iovec().get(NUMBER, 0);
            if (number < expected) {
                doubled++;
            } else {
                lost += number - expected;
                expected = number + 1;
            }
            if (number % 32 == 0) {
                LockSupport.parkNanos(1_000_000);
            }
        }

        void send() {
            Random random = new Random(rank);
            while (!Files.exists(folder.resolve("stop"))) {
                room.acquireUninterruptibly();
                int bytes = random.nextInt(10) == 0 ? 20_000 : 64 + random.nextInt(1000);
                try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes);
                        SealedBuffer message = builder.putInt(sent.getAndIncrement())
                                .put(new byte[bytes - 4])
                                .seal()) {
                    Send send = node.send(1 - rank, TAG, message);
                    send.whenComplete((delivery, failure) -> {
                        (failure == null ? acknowledged : failed).incrementAndGet();
                        room.release();
                    });
                }
            }
            sends = false;
        }

        int onTheirWay() {
            return sent.get() - acknowledged.get() - failed.get();
        }

        /// Sends no more, and says how many there were.
        void finish(long end) throws InterruptedException {
            while ((sends || onTheirWay() > 0) && System.nanoTime() < end) {
                Thread.sleep(10);
            }
            write("sent-" + rank, sent.get());
        }

        /// Once nothing moves any more.
        String total(long end) throws InterruptedException {
            Integer peers;
            do {
                Thread.sleep(10);
                peers = read("sent-" + (1 - rank));
            } while ((peers == null || expected < peers) && System.nanoTime() < end);
            // what comes twice may come late
            Thread.sleep(200);
            int missing = peers == null ? -1 : peers - expected;
            write("over-" + rank, missing);
            verdicts.forEach(System.out::println);
            return "total rank=" + rank + " sent=" + sent + " acknowledged=" + acknowledged + " failed=" + failed
                    + " verdicts=" + verdicts.size() + " lost=" + (lost + missing) + " doubled=" + doubled;
        }
    }
}
