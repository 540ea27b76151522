// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import static io.bulla.checks.hosts.AgentOutput.say;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.security.Security;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A node, with bare sockets and gRPC beside it, in a process of its own. What it is told it does in that order; it
/// ends with its input. Lines of its output begin with the monotonic time.
///
/// | in | out |
/// |---|---|
/// | `begin` | `begun`: a node |
/// | `cast BYTES` | `took NANOS`, at each receiver `got` |
/// | `expect COUNT` | `expecting`; when a flow of so many has come, `got` |
/// | `flow TO COUNT BYTES` | `took NANOS` |
/// | `bare COUNT BYTES TO...` | `took NANOS` |
/// | `grpc COUNT BYTES TO` | `took NANOS` |
/// | `end` | `ended HANDLES BYTES`: what is open after the node and its memory |
/// | | `lost PEER WHY`; `wrong` and what |
public final class DistanceAgent {

    static final int PORT = 7000;
    private static final int BARE_PORT = 7001;
    private static final int GRPC_PORT = 7002;
    private static final int CASTS = 1;
    private static final int FLOWS = 2;
    private static final long LIMIT = 1L << 30;
    private static final Duration DRAIN = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final int rank;
    private final List<String> addresses;
    private final long window;
    private final BareTcp bare;
    private final GrpcFlow grpc;
    private final MemoryBudget budget = new MemoryBudget(LIMIT);
    private LeaseTally tally = new LeaseTally();
    private ArenaSource memory = ArenaSource.create(budget, tally);
    private @Nullable OobNode node;
    // volatile: set before a flow, by another thread than the handlers'
    private volatile int expected;
    // the handlers' thread's once a flow has begun
    private volatile int next;

    private DistanceAgent(int rank, List<String> addresses, long window) throws IOException {
        this.rank = rank;
        this.addresses = addresses;
        this.window = window;
        this.bare = new BareTcp(new InetSocketAddress(addresses.get(rank), BARE_PORT));
        this.grpc = new GrpcFlow(new InetSocketAddress(addresses.get(rank), GRPC_PORT));
    }

    /// @param arguments rank, window in bytes or 0 for the default, and the addresses of all
    public static void main(String[] arguments) throws Exception {
        DistanceAgent agent = new DistanceAgent(
                Integer.parseInt(arguments[0]),
                List.of(arguments).subList(2, arguments.length),
                Long.parseLong(arguments[1]));
        say("ready");
        // one after the other, beside the reader, which sees that the check has ended
        ExecutorService worker = Executors.newSingleThreadExecutor();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String next = line;
            worker.execute(() -> agent.obey(next));
        }
        Runtime.getRuntime().halt(0);
    }

    private void obey(String line) {
        List<String> words = List.of(line.split(" "));
        try {
            List<Integer> numbers = words.stream().skip(1).map(Integer::valueOf).toList();
            switch (words.getFirst()) {
                case "begin" -> begin();
                case "cast" -> cast(numbers.getFirst());
                case "expect" -> expect(numbers.getFirst());
                case "flow" -> flow(numbers.get(0), numbers.get(1), numbers.get(2));
                case "bare" -> bare(numbers.get(0), numbers.get(1), numbers.subList(2, numbers.size()));
                case "grpc" -> grpc(numbers.get(0), numbers.get(1), numbers.get(2));
                case "end" -> end();
                default -> throw new IllegalArgumentException("not a word of an agent's");
            }
        } catch (Exception | OutOfMemoryError failed) {
            say("wrong", line, failed);
        }
    }

    private void begin() throws IOException {
        tally = new LeaseTally();
        memory = ArenaSource.create(budget, tally);
        OobNodeBuilder builder = OobNode.builder(rank, addresses.size())
                .memory(memory)
                .security(Security.plaintextBeyondLoopback())
                .directory(peer -> new InetSocketAddress(addresses.get(peer), PORT))
                .bind(new InetSocketAddress(addresses.get(rank), PORT))
                .receive(CASTS, DistanceAgent::arrived)
                .receive(FLOWS, this::flowing)
                .onPeerLost((peer, cause) -> say("lost", peer, cause.getMessage()));
        if (window > 0) {
            builder.inboundHighWaterMark(window);
        }
        node = builder.start();
        say("begun");
    }

    private void cast(int bytes) throws Exception {
        try (SealedBuffer message = Content.whole(memory, 0, bytes)) {
            long start = System.nanoTime();
            BroadcastResult result = Objects.requireNonNull(node)
                    .broadcast(CASTS, message)
                    .toCompletableFuture()
                    .get();
            long nanos = System.nanoTime() - start;
            if (result.failed().isEmpty()) {
                say("took", nanos);
            } else {
                say("wrong", "a broadcast has not reached", result.failed());
            }
        }
    }

    /// As many at once as the node takes. Long messages are there before it begins, as the bytes of bare sockets are.
    private void flow(int to, int count, int bytes) throws Exception {
        List<SealedBuffer> ready = new ArrayList<>();
        OobNode own = Objects.requireNonNull(node);
        CountDownLatch open = new CountDownLatch(count);
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        try {
            for (int i = 0; i < count && bytes >= BareTcp.MESSAGE; i++) {
                ready.add(Content.whole(memory, i, bytes));
            }
            long start = System.nanoTime();
            for (int i = 0; i < count; i++) {
                try (SealedBuffer message =
                        ready.isEmpty() ? small(i, bytes) : ready.get(i).share()) {
                    own.sendBlocking(to, FLOWS, message, SendOptions.DEFAULT).whenComplete((done, failure) -> {
                        if (failure != null) {
                            wrong.set(failure);
                        }
                        open.countDown();
                    });
                }
            }
            open.await();
            took(start, wrong.get());
        } finally {
            ready.forEach(SealedBuffer::close);
        }
    }

    private static void took(long start, @Nullable Throwable wrong) {
        long nanos = System.nanoTime() - start;
        if (wrong == null) {
            say("took", nanos);
        } else {
            say("wrong", wrong);
        }
    }

    private SealedBuffer small(int index, int bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, bytes)) {
            return builder.put(Content.message(index, bytes)).seal();
        }
    }

    private static void arrived(Message message) {
        if (Content.isWhole(message.buffer(), 0)) {
            say("got");
        } else {
            say("wrong", "a broadcast has other bytes");
        }
    }

    private void expect(int count) {
        next = 0;
        expected = count;
        say("expecting");
    }

    /// Once, and in order: each message says which it is.
    private void flowing(Message message) {
        int index = next;
        SealedBuffer buffer = message.buffer();
        boolean same = buffer.byteSize() < BareTcp.MESSAGE
                ? Content.isMessage(buffer.toByteArray(), index)
                : Content.isWhole(buffer, index);
        if (!same) {
            say("wrong", "not the next message of a flow, or other bytes: expected=" + index);
        }
        next = index + 1;
        if (index + 1 == expected) {
            say("got");
        }
    }

    private void bare(int count, int bytes, List<Integer> to) throws Exception {
        List<Thread> others = new ArrayList<>();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        long start = System.nanoTime();
        for (int peer : to) {
            others.add(Thread.ofPlatform().start(() -> {
                try {
                    bare.send(addresses.get(peer), BARE_PORT, count, bytes);
                } catch (IOException | RuntimeException failed) {
                    wrong.set(failed);
                }
            }));
        }
        for (Thread each : others) {
            each.join();
        }
        took(start, wrong.get());
    }

    private void grpc(int count, int bytes, int to) throws Exception {
        long start = System.nanoTime();
        grpc.send(addresses.get(to), GRPC_PORT, count, bytes);
        took(start, null);
    }

    private void end() throws Exception {
        bare.disconnect();
        grpc.disconnect();
        Objects.requireNonNull(node).close(DRAIN);
        memory.close(PATIENCE);
        say("ended", tally.open(), budget.used());
    }
}
