// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/// One process of a job that passes tokens round, for [KilledJobTest]: begins, or goes on from the newest checkpoint.
/// On standard input: `go`, `stop`, `tokens`, `hold`, and where rank 0 takes no checkpoints by itself, `take` and
/// `ticket`; its end ends the process.
final class TokenRank {

    private static final int TOKEN = 3;
    private static final int COMMAND = 4;
    private static final Duration DEADLINE = Duration.ofSeconds(120);

    private final Path addresses;
    private final Duration peerTimeout;
    private final CompletableFuture<OobNode> node = new CompletableFuture<>();
    private final MemorySource source = ArenaSource.create();
    private final Random random;
    private final int rank;
    private final int size;
    // all the handlers' thread's
    private final Deque<Integer> tokens = new ArrayDeque<>();
    private boolean goes;
    // of the thread that reads the input
    private CheckpointTicket ticket;

    private TokenRank(int rank, int size, Path addresses, Duration peerTimeout) {
        this.rank = rank;
        this.size = size;
        this.addresses = addresses;
        this.peerTimeout = peerTimeout;
        this.random = new Random(System.nanoTime() + rank);
    }

    /// @param args rank, size, tokens of each, folder of the checkpoints, folder of the addresses of this life; and,
    ///     if checkpoints are taken when it is told, the peer timeout in seconds
    public static void main(String[] args) throws Exception {
        Duration timeout = args.length > 5 ? Duration.ofSeconds(Long.parseLong(args[5])) : Duration.ofMinutes(2);
        TokenRank self = new TokenRank(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Path.of(args[4]), timeout);
        self.run(FolderStore.of(Path.of(args[3])), Integer.parseInt(args[2]), args.length > 5);
    }

    private void run(CheckpointStore store, int tokensOfEach, boolean isTold) throws Exception {
        OobNodeBuilder setup = OobNode.builder(rank, size)
                .memory(source)
                .security(Security.plaintext())
                .directory(this::addressOf)
                .peerTimeout(peerTimeout)
                .fragment(4096)
                .receive(TOKEN, this::token)
                .receive(COMMAND, this::command);
        OobNode started;
        Optional<Restored> restored = Checkpoints.restoreLatest(store, rank, source, RestoreLimits.DEFAULT);
        if (restored.isPresent()) {
            try (Restored from = restored.get()) {
                from.load("tokens", this::load);
                started = from.resume(setup);
                say("restored " + from.epoch() + " " + from.undelivered().size());
            }
        } else {
            for (int i = 0; i < tokensOfEach; i++) {
                tokens.add(rank * tokensOfEach + i);
            }
            started = setup.start();
            say("begun");
        }
        publish(started.address());
        Checkpoints checkpoints = Checkpoints.of(started, store, CheckpointOptions.DEFAULT.save("tokens", this::save));
        node.complete(started);
        if (rank == 0 && !isTold) {
            takeForEver(checkpoints);
        }
        follow(checkpoints);
        Runtime.getRuntime().halt(0);
    }

    private void takeForEver(Checkpoints checkpoints) {
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                try {
                    say("checkpoint "
                            + checkpoints
                                    .take(DEADLINE)
                                    .done()
                                    .toCompletableFuture()
                                    .join()
                                    .epoch());
                    Thread.sleep(20);
                } catch (Exception failure) {
                    say("no checkpoint: " + failure.getMessage());
                }
            }
        });
    }

    private void follow(Checkpoints checkpoints) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("take")) {
                ticket = checkpoints.take(DEADLINE);
                CompletableFuture<CheckpointSummary> done = ticket.done().toCompletableFuture();
                done.whenComplete((taken, failure) -> say(
                        failure == null
                                ? "checkpoint " + taken.epoch()
                                : done.exceptionNow().getMessage()));
                continue;
            }
            if (line.equals("ticket")) {
                say("ticket " + ticket.state() + " " + ticket.missing());
                continue;
            }
            try (BufferBuilder builder = BufferBuilder.create(source);
                    SealedBuffer command = builder.put(line.getBytes()).seal()) {
                node.join().send(rank, COMMAND, command);
            }
        }
    }

    private void command(Message message) {
        String word = new String(message.buffer().toByteArray());
        if (word.equals("hold")) {
            say("holds");
            while (true) {
                LockSupport.park();
            }
        }
        goes = word.equals("go");
        if (word.equals("tokens")) {
            say("tokens " + tokens);
        }
        if (goes) {
            for (int i = tokens.size(); i > 0; i--) {
                pass();
            }
        }
    }

    private void token(Message message) {
        tokens.addLast((int) message.buffer().iovec().getLong(0));
        if (goes) {
            pass();
        }
    }

    private void pass() {
        int bytes = random.nextInt(8) == 0 ? 9000 : random.nextInt(200);
        int to = (rank + 1 + random.nextInt(size - 1)) % size;
        try (BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer message = builder.putLong(tokens.removeFirst())
                        .put(new byte[bytes])
                        .seal()) {
            node.join().send(to, TOKEN, message);
        }
    }

    private SealedBuffer save() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            builder.putLong(tokens.size());
            for (Iterator<Integer> each = tokens.iterator(); each.hasNext(); ) {
                builder.putLong(each.next());
            }
            return builder.seal();
        }
    }

    private void load(SealedBuffer state) {
        for (long i = 0; i < state.iovec().getLong(0); i++) {
            tokens.addLast((int) state.iovec().getLong(8 + 8 * i));
        }
    }

    private void publish(InetSocketAddress address) throws IOException {
        Path part = addresses.resolve(rank + ".part");
        Files.writeString(part, Integer.toString(address.getPort()));
        Files.move(part, addresses.resolve(Integer.toString(rank)), StandardCopyOption.ATOMIC_MOVE);
    }

    private InetSocketAddress addressOf(int peer) {
        try {
            int port = Integer.parseInt(Files.readString(addresses.resolve(Integer.toString(peer))));
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        } catch (NoSuchFileException notYet) {
            return null;
        } catch (IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static List<Integer> tokensOf(String line) {
        List<Integer> all = new ArrayList<>();
        String inside = line.substring(line.indexOf('[') + 1, line.indexOf(']'));
        for (String each : inside.isEmpty() ? new String[0] : inside.split(", ")) {
            all.add(Integer.parseInt(each));
        }
        return all;
    }
}
