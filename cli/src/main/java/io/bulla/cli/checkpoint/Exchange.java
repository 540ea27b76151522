// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.checkpoint;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.shell.NodeTags;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.oob.BroadcastResult;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.Send;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Every node sends all others messages with the numbers 1, 2, 3 and so on, and broadcasts some. Who receives them
/// knows the next number, so a gap is a loss, and what is not above the last is there twice. Numbers are state: they
/// go on from a checkpoint.
///
/// `NUMBERED`: `INT64 number | BYTE_OBJECT filling`
final class Exchange {

    private static final WireFormat FORMAT = WireFormat.OPAL_DSS_DESCRIBED;
    private static final int MOST_ON_THEIR_WAY = 64;
    private static final int BROADCAST_EACH = 8;
    private static final int LONG_EACH = 64;
    private static final int LONG = 600_000;
    private static final int SHORT = 1_000;

    /// What a person wants to know of it.
    ///
    /// @param sent messages and broadcasts
    /// @param received those of all others
    /// @param lost numbers that were left out
    /// @param doubled those that had come before
    record Figures(long sent, long received, long lost, long doubled) {

        /// Whether nothing of the other's is missing.
        boolean holds(Figures other) {
            return sent >= other.sent && received >= other.received;
        }

        @Override
        public String toString() {
            return "sent=" + sent + " received=" + received + " lost=" + lost + " doubled=" + doubled;
        }
    }

    private final int rank;
    private final MemorySource source;
    // of the handlers' thread from the begin on: the last numbers of each peer; those at this rank are of broadcasts
    private final long[] sent;
    private final long[] received;
    private final long[] broadcasts;
    private final List<Deque<Send>> onTheirWay = new ArrayList<>();
    private CompletableFuture<BroadcastResult> broadcast = CompletableFuture.completedFuture(null);
    private long got;
    private long lost;
    private long doubled;
    private long ticks;
    // volatile: written by the handlers' thread, read as a snapshot
    private volatile Figures figures = new Figures(0, 0, 0, 0);
    // volatile: set by the clock, cleared by the handler: at most one tick is on its way
    private volatile boolean ticking;

    Exchange(int rank, int size, MemorySource source) {
        this.rank = rank;
        this.source = source;
        this.sent = new long[size];
        this.received = new long[size];
        this.broadcasts = new long[size];
        for (int peer = 0; peer < size; peer++) {
            onTheirWay.add(new ArrayDeque<>());
        }
    }

    Figures figures() {
        return figures;
    }

    /// `INT64[] sent | INT64[] received | INT64[] broadcasts | INT64 got | INT64 lost | INT64 doubled`. On the
    /// handlers' thread.
    SealedBuffer save() {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            Packer.into(builder, FORMAT)
                    .packInt64(sent)
                    .packInt64(received)
                    .packInt64(broadcasts)
                    .packInt64(got)
                    .packInt64(lost)
                    .packInt64(doubled);
            return builder.seal();
        }
    }

    /// Before it begins.
    ///
    /// @throws IOException if it is of a job of another size
    void load(SealedBuffer state) throws IOException {
        Unpacker words = Unpacker.of(state, FORMAT);
        load(words, sent);
        load(words, received);
        load(words, broadcasts);
        got = words.unpackInt64();
        lost = words.unpackInt64();
        doubled = words.unpackInt64();
        publish();
    }

    private static void load(Unpacker words, long[] numbers) throws IOException {
        long[] saved = words.unpackInt64s();
        if (saved.length != numbers.length) {
            throw new IOException("numbers of another job: nodes=" + saved.length + " expected=" + numbers.length);
        }
        System.arraycopy(saved, 0, numbers, 0, saved.length);
    }

    /// Receives from now on.
    void begin(OobNode node) {
        node.receive(NodeTags.TICK, message -> tick(node));
        node.receive(NodeTags.NUMBERED, message -> got(message, received));
        node.receive(NodeTags.BROADCAST, message -> got(message, broadcasts));
    }

    /// Sends until it is interrupted, on a thread of its own: what is sent is a handler's, so that it fits the state.
    void run(OobNode node, Duration period) throws InterruptedException {
        try (BufferBuilder builder = BufferBuilder.create(source);
                SealedBuffer nothing = builder.seal()) {
            while (true) {
                Thread.sleep(period);
                if (!ticking) {
                    ticking = true;
                    node.send(rank, NodeTags.TICK, nothing);
                }
            }
        }
    }

    private void tick(OobNode node) {
        ticking = false;
        ticks++;
        for (int peer = 0; peer < node.size(); peer++) {
            if (peer != rank) {
                send(node, peer);
            }
        }
        if (ticks % BROADCAST_EACH == 0 && broadcast.isDone()) {
            broadcast(node);
        }
        publish();
    }

    private void send(OobNode node, int peer) {
        Deque<Send> before = onTheirWay.get(peer);
        while (!before.isEmpty() && before.peekFirst().isDone()) {
            before.removeFirst();
        }
        if (before.size() >= MOST_ON_THEIR_WAY) {
            return;
        }
        try (SealedBuffer message = message(sent[peer] + 1)) {
            Send send = node.send(peer, NodeTags.NUMBERED, FORMAT, message);
            // refused at once: it has no number
            if (!send.toCompletableFuture().isCompletedExceptionally()) {
                before.addLast(send);
                sent[peer]++;
            }
        }
    }

    private void broadcast(OobNode node) {
        try (SealedBuffer message = message(sent[rank] + 1)) {
            broadcast = node.broadcast(NodeTags.BROADCAST, FORMAT, message).toCompletableFuture();
            if (!broadcast.isCompletedExceptionally()) {
                sent[rank]++;
            }
        }
    }

    private SealedBuffer message(long number) {
        int bytes = number % LONG_EACH == 0 ? LONG : (int) (number * 31 % SHORT);
        byte[] filling = new byte[bytes];
        java.util.Arrays.fill(filling, (byte) number);
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            Packer.into(builder, FORMAT).packInt64(number).packByteObject(filling);
            return builder.seal();
        }
    }

    private void got(Message message, long[] last) {
        int origin = message.origin();
        long number = message.unpacker(Limits.DEFAULT).unpackInt64();
        got++;
        if (number <= last[origin]) {
            doubled++;
        } else {
            lost += number - last[origin] - 1;
            last[origin] = number;
        }
        publish();
    }

    private void publish() {
        long all = 0;
        for (long each : sent) {
            all += each;
        }
        figures = new Figures(all, got, lost, doubled);
    }
}
