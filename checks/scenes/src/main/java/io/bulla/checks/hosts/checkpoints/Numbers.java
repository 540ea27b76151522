// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts.checkpoints;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.checks.hosts.AgentOutput;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.Send;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// What a node has sent to each other one, and broadcast, and got of each: 1, 2, 3 and so on. A gap is a loss; what
/// is not above the last was there before. All of it is its state in checkpoints.
final class Numbers {

    static final int TICK = 1;
    private static final int NUMBERS = 2;
    private static final int BROADCASTS = 3;
    private static final int MOST_ON_THEIR_WAY = 32;
    private static final int BROADCAST_EACH = 8;
    private static final int LONG_EACH = 64;
    private static final int LONG = 300_000;
    private static final int SHORT = 1_000;

    private final int rank;
    private final int size;
    private final MemorySource memory;
    // the handlers' thread's, once the node runs; at this rank, those of broadcasts
    private final long[] sent;
    private final long[] received;
    private final long[] broadcasts;
    private final List<Deque<Send>> onTheirWay = new ArrayList<>();
    private CompletableFuture<BroadcastResult> broadcast = CompletableFuture.completedFuture(null);
    private long lost;
    private long doubled;
    private long ticks;
    // volatile: set by the clock, cleared by the handler
    private volatile boolean ticking;
    // volatile: written by the handlers' thread, read as a snapshot
    private volatile String figures = "";

    Numbers(int rank, int size, MemorySource memory) {
        this.rank = rank;
        this.size = size;
        this.memory = memory;
        this.sent = new long[size];
        this.received = new long[size];
        this.broadcasts = new long[size];
        for (int peer = 0; peer < size; peer++) {
            onTheirWay.add(new ArrayDeque<>());
        }
        publish();
    }

    /// @param held is where a handler may be held, which sends on meanwhile
    void receive(OobNode node, HeldStore held) {
        node.receive(TICK, message -> {
            tick(node);
            held.reach("ticking", 0, () -> sendAll(node));
        });
        node.receive(NUMBERS, message -> got(message, received));
        node.receive(BROADCASTS, message -> got(message, broadcasts));
    }

    /// Whether the tick before is over.
    boolean mayTick() {
        boolean may = !ticking;
        ticking = true;
        return may;
    }

    String figures() {
        return figures;
    }

    /// Between two handlers.
    SealedBuffer save() {
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            for (long[] each : List.of(sent, received, broadcasts, new long[] {lost, doubled})) {
                for (long number : each) {
                    builder.putLong(number);
                }
            }
            return builder.seal();
        }
    }

    /// Before the node runs.
    void load(SealedBuffer state) throws IOException {
        ByteBuffer words = ByteBuffer.wrap(state.toByteArray());
        if (words.remaining() != (3 * size + 2) * Long.BYTES) {
            throw new IOException("numbers of another job: bytes=" + words.remaining() + " nodes=" + size);
        }
        for (long[] each : List.of(sent, received, broadcasts)) {
            for (int i = 0; i < size; i++) {
                each[i] = words.getLong();
            }
        }
        lost = words.getLong();
        doubled = words.getLong();
        publish();
    }

    private void tick(OobNode node) {
        ticking = false;
        sendAll(node);
        if (++ticks % BROADCAST_EACH == 0 && broadcast.isDone()) {
            try (SealedBuffer message = message(sent[rank] + 1)) {
                broadcast = node.broadcast(BROADCASTS, message).toCompletableFuture();
                sent[rank]++;
            }
        }
    }

    private void sendAll(OobNode node) {
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank) {
                send(node, peer);
            }
        }
    }

    private void send(OobNode node, int peer) {
        Deque<Send> before = onTheirWay.get(peer);
        while (!before.isEmpty() && before.peekFirst().isDone()) {
            before.removeFirst();
        }
        if (before.size() < MOST_ON_THEIR_WAY) {
            try (SealedBuffer message = message(sent[peer] + 1)) {
                before.addLast(node.send(peer, NUMBERS, message));
                sent[peer]++;
            }
        }
    }

    private SealedBuffer message(long number) {
        byte[] filling = new byte[bytes(number)];
        Arrays.fill(filling, (byte) number);
        try (BufferBuilder builder = BufferBuilder.create(memory)) {
            return builder.putLong(number).put(filling).seal();
        }
    }

    private static int bytes(long number) {
        return number % LONG_EACH == 0 ? LONG : (int) (number * 31 % SHORT);
    }

    private void got(Message message, long[] last) {
        ByteBuffer all = ByteBuffer.wrap(message.buffer().toByteArray());
        long number = all.getLong();
        boolean same = all.remaining() == bytes(number);
        while (same && all.hasRemaining()) {
            same = all.get() == (byte) number;
        }
        if (!same) {
            AgentOutput.say("wrong", message.origin(), number);
        }
        if (number <= last[message.origin()]) {
            doubled++;
        } else {
            lost += number - last[message.origin()] - 1;
            last[message.origin()] = number;
        }
        publish();
    }

    private void publish() {
        StringBuilder words = new StringBuilder().append(lost).append(' ').append(doubled);
        for (int peer = 0; peer < size; peer++) {
            words.append(' ').append(received[peer] + broadcasts[peer]);
        }
        figures = words.toString();
    }
}
