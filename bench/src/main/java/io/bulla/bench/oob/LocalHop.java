// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.posix.SharedSlabSource;
import io.bulla.interop.posix.SlabQuota;
import io.bulla.pool.SlabSource;
import io.bulla.runtime.oob.LocalMemory;
import io.bulla.runtime.oob.local.SlabMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A message there and back between two nodes that may lend each other memory, in one process: each maps the other's
/// slabs as another process would.
///
/// Arguments: bytes of the message; `slab`, or `bytes` for nodes that lend, but not this. Prints nanoseconds of a round
/// trip, the median of the windows. The receivers do not look at the message.
public final class LocalHop {

    private static final int TAG = 1;
    private static final int TRIPS = 500;
    private static final int ROUNDS = 15;
    private static final int SURE = 4 << 10;
    private static final long SECONDS = 60;
    private static final long WARM_UP_NANOS = 2_000_000_000L;

    private final List<SealedBuffer> messages = new ArrayList<>();
    // set before a round begins, which the handlers see through its messages
    private volatile CountDownLatch done = new CountDownLatch(0);
    private Job job;
    private long rounds;

    private LocalHop() {}

    /// Lends from another size on.
    ///
    /// @param slabs all but that
    /// @param leastBytes of a message
    private record From(SlabMemory slabs, int leastBytes) implements LocalMemory {

        @Override
        public Lender invite(int peer) {
            return slabs.invite(peer);
        }

        @Override
        public CompletionStage<Borrower> borrow(int peer, byte[] invitation) {
            return slabs.borrow(peer, invitation);
        }
    }

    public static void main(String[] args) throws Exception {
        int bytes = Integer.parseInt(args[0]);
        int least = args[1].equals("slab") ? 1 : Integer.MAX_VALUE;
        // of mode 0700
        Path folder = Files.createTempDirectory("bulla-hop");
        try (SharedSlabSource one = source();
                SharedSlabSource other = source();
                SlabMemory lendsOne = SlabMemory.open(folder, one, SlabQuota.standard());
                SlabMemory lendsOther = SlabMemory.open(folder, other, SlabQuota.standard())) {
            LocalHop hop = new LocalHop();
            Job.Shape shape = (rank, node) -> node.memory(rank == 0 ? one : other)
                    .localMemory(new From(rank == 0 ? lendsOne : lendsOther, least))
                    .coalesceBelow(0);
            try (Job job = Job.start(2, one, shape)) {
                hop.job = job;
                hop.messages.add(Job.message(one, bytes));
                hop.messages.add(Job.message(other, bytes));
                job.node(0).receive(TAG, message -> hop.back());
                job.node(1).receive(TAG, message -> hop.send(1));
                System.out.println(Medians.of(hop.measure()));
                hop.check(least == 1, bytes);
            } finally {
                hop.messages.forEach(SealedBuffer::close);
            }
        } finally {
            remove(folder);
        }
    }

    private static SharedSlabSource source() {
        return SharedSlabSource.create(SlabSource.builder().budget(MemoryBudget.unlimited()));
    }

    private double[] measure() throws InterruptedException {
        for (long start = System.nanoTime(); System.nanoTime() - start < WARM_UP_NANOS; ) {
            round();
        }
        double[] nanos = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            nanos[i] = round();
        }
        return nanos;
    }

    private double round() throws InterruptedException {
        rounds++;
        done = new CountDownLatch(TRIPS);
        long start = System.nanoTime();
        send(0);
        if (!done.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("a message does not come back: left=" + done.getCount());
        }
        return (double) (System.nanoTime() - start) / TRIPS;
    }

    private void back() {
        CountDownLatch count = done;
        count.countDown();
        if (count.getCount() > 0) {
            send(0);
        }
    }

    private void send(int from) {
        job.node(from).send(1 - from, TAG, messages.get(from));
    }

    /// What is lent leaves a header and a place on the socket, and the first messages, before the proof, all.
    private void check(boolean lent, int bytes) {
        long onSocket = job.node(0).socketBytes() / (rounds * TRIPS);
        if (bytes >= SURE && lent != onSocket < bytes / 2) {
            throw new IllegalStateException("bytes on the socket: each=" + onSocket + " of=" + bytes + " lent=" + lent);
        }
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path each : files.toList()) {
                Files.deleteIfExists(each);
            }
        }
        Files.delete(folder);
    }
}
