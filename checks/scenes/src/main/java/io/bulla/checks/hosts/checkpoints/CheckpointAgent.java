// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts.checkpoints;

import static io.bulla.checks.hosts.AgentOutput.say;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseLedger;
import io.bulla.runtime.checkpoint.CheckpointOptions;
import io.bulla.runtime.checkpoint.CheckpointSummary;
import io.bulla.runtime.checkpoint.CheckpointTicket;
import io.bulla.runtime.checkpoint.Checkpoints;
import io.bulla.runtime.checkpoint.FolderStore;
import io.bulla.runtime.checkpoint.RestoreLimits;
import io.bulla.runtime.checkpoint.Restored;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/// A node in a process of its own that sends numbers, takes checkpoints, and goes on from the newest one if there is
/// one. Lines of its output begin with the monotonic time.
///
/// | in | out |
/// |---|---|
/// | `peer RANK ADDRESS PORT` | |
/// | `begin` | `begun EPOCH`: that it goes on from, or 0 |
/// | `take MILLIS` | `took EPOCH published`, or `took EPOCH aborted WHY` |
/// | `hold STEP` | `at STEP EPOCH` when it is there, and waits: once |
/// | `release` | |
/// | `figures` | `figures LOST DOUBLED RECEIVED...`: of each rank |
/// | `end` | `ended HANDLES BYTES` |
/// | | `lost RANK WHY` |
public final class CheckpointAgent {

    static final int PORT = 7000;
    private static final long LIMIT = 256L << 20;
    private static final String STATE = "numbers";
    private static final Duration DRAIN = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long TICK_NANOS = 20_000_000;

    private final MemoryBudget budget = new MemoryBudget(LIMIT);
    private final LeaseLedger ledger = LeaseLedger.full();
    private final ArenaSource memory =
            ArenaSource.builder().budget(budget).trace(ledger).build();
    private final Map<Integer, InetSocketAddress> peers = new ConcurrentHashMap<>();
    private final HeldStore store;
    private final Numbers numbers;
    private final OobNode node;
    private final Checkpoints checkpoints;
    private final long epoch;
    // volatile: the thread that ticks ends by it
    private volatile boolean over;

    private CheckpointAgent(int rank, int size, String address, Duration peerTimeout, Path folder) throws IOException {
        FolderStore files = FolderStore.of(folder);
        this.store = new HeldStore(files);
        this.numbers = new Numbers(rank, size, memory);
        OobNodeBuilder builder = OobNode.builder(rank, size)
                .memory(memory)
                .security(Security.plaintextBeyondLoopback())
                .directory(peers::get)
                .bind(new InetSocketAddress(address, PORT))
                .peerTimeout(peerTimeout)
                .heartbeat(Duration.ofMillis(500))
                .onPeerLost((peer, cause) -> say("lost", peer, cause.getMessage()));
        try (Restored restored = Checkpoints.restoreLatest(files, rank, memory, RestoreLimits.DEFAULT)
                .orElse(null)) {
            if (restored != null) {
                restored.load(STATE, numbers::load).into(builder);
            }
            epoch = restored == null ? 0 : restored.epoch();
            node = builder.start();
        }
        numbers.receive(node, store);
        checkpoints = Checkpoints.of(node, store, CheckpointOptions.DEFAULT.save(STATE, () -> {
            store.reach("saving", 0);
            return numbers.save();
        }));
    }

    /// @param arguments rank, nodes, address, peer timeout in milliseconds, and the folder of checkpoints
    public static void main(String[] arguments) throws Exception {
        CheckpointAgent agent = new CheckpointAgent(
                Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]),
                arguments[2],
                Duration.ofMillis(Long.parseLong(arguments[3])),
                Path.of(arguments[4]));
        say("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "peer" ->
                    agent.peers.put(
                            Integer.parseInt(words[1]), new InetSocketAddress(words[2], Integer.parseInt(words[3])));
                case "begin" -> agent.begin();
                case "take" -> agent.take(Long.parseLong(words[1]));
                case "hold" -> agent.store.hold(words[1]);
                case "release" -> agent.store.release();
                case "figures" -> say("figures", agent.numbers.figures());
                case "end" -> {
                    agent.end();
                    return;
                }
                default -> throw new IllegalArgumentException("not a word of an agent's: " + line);
            }
        }
        // the check has ended before its nodes
        Runtime.getRuntime().halt(3);
    }

    private void begin() {
        Thread.ofPlatform().daemon().start(this::tick);
        say("begun", epoch);
    }

    private void tick() {
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer nothing = builder.seal()) {
            while (!over) {
                LockSupport.parkNanos(TICK_NANOS);
                if (numbers.mayTick()) {
                    node.send(node.rank(), Numbers.TICK, nothing);
                }
            }
        }
    }

    private void take(long millis) {
        CheckpointTicket ticket = checkpoints.take(Duration.ofMillis(millis));
        ticket.done().whenComplete((CheckpointSummary summary, Throwable failure) -> {
            if (failure == null) {
                say("took", summary.epoch(), "published");
            } else {
                // a stage behind the one that failed has its failure wrapped
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                say("took", ticket.epoch(), "aborted", cause.getMessage());
            }
        });
    }

    private void end() throws InterruptedException {
        over = true;
        store.release();
        checkpoints.close();
        node.close(DRAIN);
        int handles = ledger.open().size();
        memory.close(PATIENCE);
        say("ended", handles, budget.used());
    }
}
