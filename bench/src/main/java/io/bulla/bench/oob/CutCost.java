// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.cut.NodeCut;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// The cut of a node that has 1,000 messages to a peer.
///
/// Arguments: bytes of each message; `handles`, or `copies`, to copy each message as well, as a checkpoint has to
/// whose messages can change; or `hand-overs`, for what is left without a node: the thread that asks wakes a second
/// one, which wakes a third, which shares 1,000 messages and wakes the first. Prints microseconds from the request
/// on, the median.
public final class CutCost {

    private static final int MESSAGES = 1000;
    private static final long SECONDS = 60;
    private static final int TAG = 1;
    private static final int FEWEST = 15;
    private static final int MOST = 5000;
    // a cut takes a tenth of a millisecond: fifteen of them would be over in one hiccup of the machine
    private static final long MEASURED_NANOS = 1_000_000_000;

    private CutCost() {}

    public static void main(String[] args) throws Exception {
        int bytes = Integer.parseInt(args[0]);
        if (args[1].equals("hand-overs")) {
            handOvers(bytes);
            return;
        }
        boolean copies = args[1].equals("copies");
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                Job job = Job.start(
                        2, source, (rank, node) -> node.queuePerPeer(2 * MESSAGES, 2L * MESSAGES * (bytes + 64)))) {
            OobNode node = job.node(0);
            node.suspend().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
            try (SealedBuffer message = Job.message(source, bytes)) {
                for (int i = 0; i < MESSAGES; i++) {
                    node.send(1, TAG, message);
                }
            }
            print(() -> once(node, source, copies));
        }
    }

    @FunctionalInterface
    private interface Round {
        double micros() throws Exception;
    }

    private static void print(Round round) throws Exception {
        Effort effort = Effort.ofProcess();
        for (long start = System.nanoTime(); !effort.isWarm(start); ) {
            round.micros();
        }
        double[] micros = new double[MOST];
        int count = 0;
        for (long start = System.nanoTime();
                count < FEWEST || count < MOST && System.nanoTime() - start < MEASURED_NANOS; ) {
            micros[count++] = round.micros();
        }
        System.out.println(Medians.of(Arrays.copyOf(micros, count)));
    }

    private static void handOvers(int bytes) throws Exception {
        try (ExecutorService second = Executors.newSingleThreadExecutor();
                ExecutorService third = Executors.newSingleThreadExecutor();
                ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                SealedBuffer message = Job.message(source, bytes)) {
            print(() -> {
                List<SealedBuffer> shared = new ArrayList<>(MESSAGES);
                long start = System.nanoTime();
                CompletableFuture.runAsync(() -> {}, second)
                        .thenRunAsync(() -> shareInto(shared, message), third)
                        .get(SECONDS, TimeUnit.SECONDS);
                long nanos = System.nanoTime() - start;
                shared.forEach(SealedBuffer::close);
                return nanos / 1e3;
            });
        }
    }

    private static void shareInto(List<SealedBuffer> shared, SealedBuffer message) {
        for (int i = 0; i < MESSAGES; i++) {
            shared.add(message.share());
        }
    }

    private static double once(OobNode node, ArenaSource source, boolean copies) throws Exception {
        List<SealedBuffer> copied = new ArrayList<>(MESSAGES);
        long start = System.nanoTime();
        try (NodeCut cut = node.cut(() -> {}).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS)) {
            if (copies) {
                cut.peers()
                        .getFirst()
                        .lanes()
                        .forEach(lane -> lane.outgoing()
                                .forEach(each -> each.bytes().ifPresent(bytes -> copied.add(copy(source, bytes)))));
            }
            long nanos = System.nanoTime() - start;
            if (cut.undelivered() != MESSAGES) {
                throw new IllegalStateException("messages in the cut: " + cut.undelivered());
            }
            return nanos / 1e3;
        } finally {
            copied.forEach(SealedBuffer::close);
        }
    }

    private static SealedBuffer copy(ArenaSource source, SealedBuffer bytes) {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, bytes.byteSize())) {
            return builder.put(bytes.iovec()).seal();
        }
    }
}
