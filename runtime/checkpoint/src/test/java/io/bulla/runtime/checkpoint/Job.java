// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.refcount.LeaseTally;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Nodes in one process that pay each other for ever, with their checkpoints.
final class Job implements AutoCloseable {

    static final int COINS = 1000;
    static final int COIN = 7;

    final LeaseTally handles = new LeaseTally();
    final ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), handles);
    final List<OobNode> nodes = new ArrayList<>();
    final List<Checkpoints> checkpoints = new ArrayList<>();

    private final int size;
    private final List<AtomicLong> balances = new ArrayList<>();
    private final List<CompletableFuture<OobNode>> known = new ArrayList<>();
    private final AtomicLong moved = new AtomicLong();
    private volatile boolean closing;
    private Duration peerTimeout = Duration.ofMinutes(10);

    Job(int size) {
        this.size = size;
    }

    Job peerTimeout(Duration timeout) {
        peerTimeout = timeout;
        return this;
    }

    Job start(CheckpointStore store) throws IOException {
        forgetAll();
        for (int rank = 0; rank < size; rank++) {
            nodes.add(setup(rank).start());
        }
        open(store);
        return this;
    }

    /// As in another process: what the former nodes do now is of no job.
    Job restore(CheckpointStore store) throws IOException {
        List<OobNode> former = List.copyOf(nodes);
        List<Checkpoints> formerCheckpoints = List.copyOf(checkpoints);
        formerCheckpoints.forEach(Checkpoints::close);
        former.forEach(OobNode::close);
        forgetAll();
        for (int rank = 0; rank < size; rank++) {
            AtomicLong balance = balances.get(rank);
            // every other node where the file is
            Optional<Restored> latest = rank % 2 == 0
                    ? Checkpoints.restoreLatest(store, rank, source, RestoreLimits.DEFAULT)
                    : Checkpoints.mapLatest(store, rank, RestoreLimits.DEFAULT);
            try (Restored restored = latest.orElseThrow()) {
                restored.load("balance", state -> balance.set(state.iovec().getLong(0)));
                nodes.add(restored.resume(setup(rank)));
            }
        }
        open(store);
        return this;
    }

    /// Another process of the rank, without a checkpoint.
    void startAgain(int rank, CheckpointStore store) throws IOException {
        checkpoints.get(rank).close();
        nodes.get(rank).close();
        known.set(rank, new CompletableFuture<>());
        OobNode node = setup(rank).start();
        nodes.set(rank, node);
        checkpoints.set(rank, of(node, store));
        known.get(rank).complete(node);
    }

    private Checkpoints of(OobNode node, CheckpointStore store) {
        return Checkpoints.of(node, store, CheckpointOptions.DEFAULT.save("balance", () -> balance(node.rank())));
    }

    private void forgetAll() {
        nodes.clear();
        checkpoints.clear();
        balances.clear();
        known.clear();
        for (int rank = 0; rank < size; rank++) {
            balances.add(new AtomicLong(COINS));
            known.add(new CompletableFuture<>());
        }
    }

    private OobNodeBuilder setup(int rank) {
        AtomicLong balance = balances.get(rank);
        CompletableFuture<OobNode> node = known.get(rank);
        List<OobNode> peers = nodes;
        return OobNode.builder(rank, size)
                .memory(source)
                .security(Security.plaintext())
                .directory(peer -> peer < peers.size() ? peers.get(peer).address() : null)
                .peerTimeout(peerTimeout)
                .heartbeat(Duration.ofMillis(Math.min(1000, peerTimeout.toMillis() / 4)))
                .fragment(4096)
                .receive(COIN, message -> got(node.join(), balance, message));
    }

    private void open(CheckpointStore store) {
        for (OobNode node : nodes) {
            checkpoints.add(of(node, store));
            known.get(node.rank()).complete(node);
        }
    }

    SealedBuffer balance(int rank) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Long.BYTES)) {
            return builder.putLong(balances.get(rank).get()).seal();
        }
    }

    SealedBuffer bytes(int length) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, length)) {
            return builder.put(new byte[length]).seal();
        }
    }

    void pay(int messages) {
        for (int i = 0; i < messages; i++) {
            int rank = i % size;
            pay(nodes.get(rank), balances.get(rank), 1 + i % 9);
        }
    }

    private void got(OobNode node, AtomicLong balance, Message message) {
        long coins = message.buffer().iovec().getLong(0);
        balance.addAndGet(coins);
        if (!closing) {
            pay(node, balance, coins);
        }
    }

    private void pay(OobNode from, AtomicLong balance, long coins) {
        long step = moved.incrementAndGet();
        int bytes = step % 7 == 0 ? 10_000 : (int) (step % 300);
        try (BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer message =
                        builder.putLong(coins).put(new byte[bytes]).seal()) {
            balance.addAndGet(-coins);
            from.send((int) ((from.rank() + 1 + step % (size - 1)) % size), COIN, message);
        }
    }

    void moves(int messages) {
        long until = moved.get() + messages;
        await("messages move", () -> moved.get() >= until);
    }

    void addsUp() {
        closing = true;
        await(
                "the money adds up",
                () -> balances.stream().mapToLong(AtomicLong::get).sum() == (long) size * COINS);
    }

    static <T> T done(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    /// Why a ticket ended without a checkpoint.
    static CheckpointException failure(CheckpointTicket ticket) {
        return assertInstanceOf(
                CheckpointException.class,
                assertThrows(ExecutionException.class, () -> done(ticket.done()))
                        .getCause());
    }

    static void await(String what, BooleanSupplier reached) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!reached.getAsBoolean()) {
            assertEquals(true, System.nanoTime() < end, what);
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        checkpoints.forEach(Checkpoints::close);
        nodes.forEach(OobNode::close);
        await("all handles are closed", () -> handles.open() == 0);
        source.close();
    }
}
