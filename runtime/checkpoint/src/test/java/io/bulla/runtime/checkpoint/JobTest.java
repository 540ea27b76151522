// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.cut.NodeCut;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A job goes on from files, on other ports, and no coin is lost or doubled.
class JobTest {

    private static final int NODES = 3;
    private static final int COINS = 1000;
    private static final int TAG = 7;

    private final MemorySource source = ArenaSource.create();
    private final List<OobNode> nodes = new ArrayList<>();
    private final List<CompletableFuture<OobNode>> known = new ArrayList<>();
    private final List<AtomicLong> balances = new ArrayList<>();
    private int turn;

    @Test
    void moneyAddsUpThroughFiles(@TempDir Path folder) throws Exception {
        CheckpointArchive archive = CheckpointArchive.of(FolderStore.of(folder));
        start(null, archive);
        for (long epoch = 1; epoch <= 3; epoch++) {
            for (int i = 0; i < 300; i++) {
                pay(i % NODES, 1 + i % 5);
            }
            archive.publish(new CheckpointManifest(epoch, Instant.now(), take(archive, epoch)));
            nodes.forEach(OobNode::close);
            start(archive.latest().orElseThrow(), archive);
        }
        await(
                "the money adds up",
                () -> balances.stream().mapToLong(AtomicLong::get).sum() == NODES * COINS);
        nodes.forEach(OobNode::close);
    }

    private void start(CheckpointManifest from, CheckpointArchive archive) throws IOException {
        nodes.clear();
        known.clear();
        balances.clear();
        for (int rank = 0; rank < NODES; rank++) {
            balances.add(new AtomicLong(COINS));
            known.add(new CompletableFuture<>());
        }
        for (int rank = 0; rank < NODES; rank++) {
            int of = rank;
            OobNodeBuilder setup = OobNode.builder(rank, NODES)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(peer -> peer < nodes.size() ? nodes.get(peer).address() : null)
                    .peerTimeout(Duration.ofMinutes(10))
                    .fragment(4096)
                    .receive(TAG, message -> got(of, message));
            if (from == null) {
                nodes.add(setup.start());
            } else {
                try (RankImage image = archive.read(from, rank, source, RestoreLimits.DEFAULT)) {
                    balances.get(rank).set(number(image.states().get("balance")));
                    nodes.add(setup.restore(image.cut()).start());
                }
            }
        }
        nodes.forEach(node -> known.get(node.rank()).complete(node));
    }

    private void got(int rank, Message message) {
        long coins = number(message.buffer());
        balances.get(rank).addAndGet(coins);
        if (coins > 1) {
            pay(rank, coins / 2);
        }
    }

    private synchronized int turn() {
        return ++turn;
    }

    private void pay(int from, long coins) {
        int step = turn();
        int bytes = step % 7 == 0 ? 10_000 : step % 300;
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            try (SealedBuffer message =
                    builder.putLong(coins).put(new byte[bytes]).seal()) {
                balances.get(from).addAndGet(-coins);
                known.get(from).join().send((from + 1 + step % 2) % NODES, TAG, message);
            }
        }
    }

    private static long number(SealedBuffer bytes) {
        return bytes.iovec().getLong(0);
    }

    private List<RankEntry> take(CheckpointArchive archive, long epoch) throws Exception {
        for (CompletionStage<Void> each : nodes.stream().map(OobNode::suspend).toList()) {
            done(each);
        }
        List<RankEntry> entries = new ArrayList<>();
        for (OobNode node : nodes) {
            TreeMap<String, SealedBuffer> states = new TreeMap<>();
            NodeCut cut = done(node.cut(() -> states.put("balance", balance(node.rank()))));
            try (RankImage image = new RankImage(cut, states)) {
                entries.add(archive.write(epoch, image));
            }
        }
        return entries;
    }

    private SealedBuffer balance(int rank) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Long.BYTES)) {
            return builder.putLong(balances.get(rank).get()).seal();
        }
    }

    private static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static void await(String what, BooleanSupplier reached) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!reached.getAsBoolean()) {
            assertEquals(true, System.nanoTime() < end, what);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
