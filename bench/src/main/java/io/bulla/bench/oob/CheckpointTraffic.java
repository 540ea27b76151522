// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.checkpoint.CheckpointOptions;
import io.bulla.runtime.checkpoint.CheckpointSummary;
import io.bulla.runtime.checkpoint.Checkpoints;
import io.bulla.runtime.checkpoint.FolderStore;
import io.bulla.runtime.oob.OobNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/// What a checkpoint costs a job of two nodes whose first one sends as fast as it may, with so many messages on their
/// way. Windows of a second by turns: nothing happens; a checkpoint is taken in the middle; the sender stops in the
/// middle until nothing is on its way, and then goes on, which is what a checkpoint costs at least that drains.
///
/// Prints a line for each kind of window: nanoseconds a message, and the longest time from the call of `send` to the
/// acknowledgement, each the median of the windows; and what was written beside what may be.
public final class CheckpointTraffic {

    private static final int TAG = 1;
    private static final int BYTES = 1 << 10;
    private static final int OUTSTANDING = 1000;
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PER_MESSAGE = 64;
    private static final long PER_RANK = 4 << 10;
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private enum Kind {
        PLAIN,
        CHECKPOINT,
        DRAIN
    }

    private final OobNode node;
    private final SealedBuffer message;
    private final Semaphore room = new Semaphore(OUTSTANDING);
    private final AtomicLong acknowledged = new AtomicLong();
    private final LongAccumulator longest = new LongAccumulator(Math::max, 0);
    private final List<CheckpointSummary> taken = new ArrayList<>();
    private final Map<Kind, List<Double>> times = new EnumMap<>(Kind.class);
    private final Map<Kind, List<Double>> waits = new EnumMap<>(Kind.class);

    private CheckpointTraffic(OobNode node, SealedBuffer message) {
        this.node = node;
        this.message = message;
    }

    /// @param args a folder for the checkpoints, which is made
    public static void main(String[] args) throws Exception {
        FolderStore store = FolderStore.of(Path.of(args[0]));
        Effort effort = Effort.ofProcess();
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                Job job = Job.start(2, source, (rank, node) -> node.receive(TAG, message -> {}));
                Checkpoints first = Checkpoints.of(job.node(0), store, options(source));
                Checkpoints second = Checkpoints.of(job.node(1), store, options(source));
                SealedBuffer message = Job.message(source, BYTES)) {
            CheckpointTraffic traffic = new CheckpointTraffic(job.node(0), message);
            for (long start = System.nanoTime(); !effort.isWarm(start); ) {
                traffic.window(Kind.CHECKPOINT, first);
            }
            traffic.forget();
            for (int i = 0; i < effort.windows; i++) {
                for (Kind kind : Kind.values()) {
                    traffic.window(kind, first);
                }
            }
            traffic.print();
        }
    }

    private static CheckpointOptions options(ArenaSource source) {
        return CheckpointOptions.DEFAULT.save("state", () -> {
            try (BufferBuilder state = BufferBuilder.ofCapacity(source, Long.BYTES)) {
                return state.putLong(1).seal();
            }
        });
    }

    private void forget() {
        times.clear();
        waits.clear();
        taken.clear();
    }

    private void window(Kind kind, Checkpoints checkpoints) throws Exception {
        acknowledged.set(0);
        longest.reset();
        long start = System.nanoTime();
        sendUntil(start + WINDOW_NANOS / 2);
        var summary = kind == Kind.CHECKPOINT ? checkpoints.take(DEADLINE).done() : null;
        if (kind == Kind.DRAIN) {
            room.acquire(OUTSTANDING);
            room.release(OUTSTANDING);
        }
        sendUntil(start + WINDOW_NANOS);
        double nanos = (double) (System.nanoTime() - start) / acknowledged.get();
        room.acquire(OUTSTANDING);
        room.release(OUTSTANDING);
        times.computeIfAbsent(kind, k -> new ArrayList<>()).add(nanos);
        waits.computeIfAbsent(kind, k -> new ArrayList<>()).add(longest.get() / 1e3);
        if (summary != null) {
            taken.add(summary.toCompletableFuture().get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
        }
    }

    private void sendUntil(long end) throws InterruptedException {
        while (System.nanoTime() - end < 0) {
            room.acquire();
            long sent = System.nanoTime();
            node.send(1, TAG, message).whenComplete((delivery, failure) -> {
                longest.accumulate(System.nanoTime() - sent);
                acknowledged.incrementAndGet();
                room.release();
            });
        }
    }

    private void print() {
        for (Kind kind : Kind.values()) {
            String name = kind.name().toLowerCase(Locale.ROOT);
            System.out.println(name + " time ns=" + median(times.get(kind)));
            System.out.println(name + " wait us=" + median(waits.get(kind)));
        }
        List<Double> written = new ArrayList<>();
        List<Double> allowed = new ArrayList<>();
        for (CheckpointSummary each : taken) {
            written.add((double) each.bytes());
            allowed.add((double) each.messages() * (BYTES + PER_MESSAGE) + each.nodes() * PER_RANK);
        }
        System.out.println("written bytes=" + median(written));
        System.out.println("allowed bytes=" + median(allowed));
    }

    private static String median(List<Double> values) {
        return String.format(
                Locale.ROOT,
                "%.1f",
                Medians.of(values.stream().mapToDouble(Double::doubleValue).toArray()));
    }
}
