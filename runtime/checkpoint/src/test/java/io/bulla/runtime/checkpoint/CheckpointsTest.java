// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.checkpoint.CheckpointTicket.State;
import io.bulla.runtime.oob.OobNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checkpoints of nodes that go on: whole, or aborted with a name, and the one before as it was.
class CheckpointsTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    @Test
    void moneyAddsUpThroughCheckpointsThatAnyNodeAsksFor() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(3).start(store)) {
            job.pay(30);
            for (int round = 0; round < 6; round++) {
                job.moves(100);
                CheckpointTicket ticket = job.checkpoints.get(round % 3).take(LONG);
                CheckpointSummary summary = Job.done(ticket.done());
                assertEquals(State.PUBLISHED, ticket.state());
                assertEquals(List.of(), ticket.missing());
                assertEquals(3, summary.nodes());
                assertEquals(round + 1, summary.epoch());
                job.moves(100);
                if (round % 2 == 1) {
                    job.restore(store);
                }
            }
            // two stay
            Job.await("older ones are deleted", () -> epochs(store).equals(List.of(6L, 5L)));
            job.addsUp();
        }
    }

    private static List<Long> epochs(CheckpointStore store) {
        try {
            return store.epochs();
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void restoredNamesWhatWasUndelivered() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(2).start(store)) {
            OobNode receiver = job.nodes.get(1);
            try (SealedBuffer message = job.bytes(321)) {
                job.nodes.get(0).send(1, 99, message).toCompletableFuture().get(30, TimeUnit.SECONDS);
                // has arrived, and has no receiver
                Job.await("it is there", () -> receiver.unclaimedBytes() > 0);
                Job.done(receiver.suspend());
                job.nodes.get(0).send(1, 98, message);
                Job.done(receiver.resume(receiver.address()));
            }
            Job.await("both are there", () -> receiver.unclaimedBytes() > 2 * 321);
            CheckpointSummary summary =
                    Job.done(job.checkpoints.get(0).take(LONG).done());
            try (Restored restored =
                    Checkpoints.restore(store, summary.epoch(), 1, job.source, RestoreLimits.DEFAULT)) {
                assertEquals(
                        List.of(
                                new Undelivered(Undelivered.Kind.ARRIVED, 0, 98, -1, 321),
                                new Undelivered(Undelivered.Kind.ARRIVED, 0, 99, -1, 321)),
                        restored.undelivered().stream()
                                .sorted(java.util.Comparator.comparingInt(Undelivered::tag))
                                .toList());
                assertEquals(1, restored.rank());
                assertEquals(2, restored.nodes());
                assertEquals(Optional.empty(), restored.state("none"));
                assertEquals(
                        "checkpoint has no such state: epoch=1 rank=1 name=none",
                        assertThrows(CheckpointException.class, () -> restored.load("none", state -> {}))
                                .getMessage());
                assertEquals(
                        "state cannot be loaded: epoch=1 rank=1 name=balance reason=on purpose",
                        assertThrows(
                                        CheckpointException.class,
                                        () -> restored.load("balance", state -> {
                                            throw new IOException("on purpose");
                                        }))
                                .getMessage());
            }
        }
    }

    /// The file of a node that was slow in an attempt that has failed stays out of the next one.
    @Test
    void nodeThatStillWritesForAFormerAttemptIsWaitedFor() throws Exception {
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch goes = new CountDownLatch(1);
        AtomicBoolean first = new AtomicBoolean(true);
        CheckpointStore store = new Filter(FolderStore.of(folder)) {
            @Override
            public RankFile create(long epoch, int rank) throws IOException {
                if (rank == 1 && writes.getCount() > 0) {
                    writes.countDown();
                    await(goes);
                } else if (rank == 0 && first.getAndSet(false)) {
                    await(writes);
                    throw new IOException("on purpose");
                }
                return super.create(epoch, rank);
            }
        };
        try (Job job = new Job(2).start(store)) {
            String message = Job.failure(job.checkpoints.get(0).take(LONG)).getMessage();
            assertTrue(message.endsWith("on purpose"), message);
            CheckpointTicket next = job.checkpoints.get(0).take(LONG);
            // not waited for longer: it may be as slow
            for (int i = 0; i < 100 && next.state() != State.WRITING; i++) {
                Thread.sleep(10);
            }
            goes.countDown();
            assertEquals(2, Job.done(next.done()).epoch());
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            throw new IOException(ended);
        }
    }

    @Test
    void nodeThatEndsBetweenPrepareAndCommitIsNamed() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(3).peerTimeout(Duration.ofSeconds(20)).start(store)) {
            Job.done(job.checkpoints.get(0).take(LONG).done());
            CountDownLatch goes = new CountDownLatch(1);
            holdHandlers(job.nodes.get(1), goes);
            CheckpointTicket ticket = job.checkpoints.get(0).take(LONG);
            Job.await(
                    "node 1 has not cut",
                    () -> ticket.state() == State.CUTTING && ticket.missing().equals(List.of(1)));
            Thread closing = Thread.ofPlatform().start(job.nodes.get(1)::close);
            String message = Job.failure(ticket).getMessage();
            goes.countDown();
            closing.join();
            assertTrue(
                    message.startsWith("checkpoint aborted: epoch=2 state=CUTTING missing=[1] reason=rank "), message);
            assertEquals(State.ABORTED, ticket.state());
            assertEquals(List.of(1L), store.epochs());
        }
    }

    /// A handler of the node waits.
    private static void holdHandlers(OobNode node, CountDownLatch goes) throws InterruptedException {
        CountDownLatch waits = new CountDownLatch(1);
        node.receive(50, message -> {
            waits.countDown();
            try {
                goes.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try (SealedBuffer empty = SealedBuffer.concat()) {
            node.send(node.rank(), 50, empty);
        }
        assertTrue(waits.await(30, TimeUnit.SECONDS));
    }

    @Test
    void deadlineNamesWhoIsMissingAndTheNextOneIsTaken() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(3).start(store)) {
            job.pay(30);
            CountDownLatch goes = new CountDownLatch(1);
            holdHandlers(job.nodes.get(2), goes);
            CheckpointTicket late = job.checkpoints.get(0).take(Duration.ofSeconds(2));
            CheckpointTicket second = job.checkpoints.get(0).take(LONG);
            assertTrue(Job.failure(second).getMessage().contains("reason=another checkpoint is being taken"));
            String message = Job.failure(late).getMessage();
            // all of them, if this machine has not got so far
            String expected = "checkpoint aborted: epoch=1 state=(CUTTING|PREPARING) missing=\\[(0, 1, )?2\\] reason=.*"
                    + "(deadline has passed|not ended in time).*";
            assertTrue(message.matches(expected), message);
            goes.countDown();
            Job.done(job.checkpoints.get(1).take(LONG).done());
            job.moves(50);
            job.restore(store);
            job.addsUp();
        }
    }

    @Test
    void abortedOneLeavesNothingHeld() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(3).start(store)) {
            job.pay(30);
            CountDownLatch goes = new CountDownLatch(1);
            holdHandlers(job.nodes.get(2), goes);
            CheckpointTicket ticket = job.checkpoints.get(0).take(LONG);
            Job.await("it is on its way", () -> ticket.state() == State.CUTTING);
            ticket.abort("on purpose");
            assertTrue(Job.failure(ticket).getMessage().endsWith(" reason=on purpose"));
            ticket.abort("again");
            goes.countDown();
            job.moves(50);
            // by another, while the first may not be forgotten everywhere
            Job.done(job.checkpoints.get(0).take(LONG).done());
            job.checkpoints.get(0).close();
            assertTrue(
                    Job.failure(job.checkpoints.get(0).take(LONG)).getMessage().contains("checkpoints are closed"));
            assertThrows(
                    IllegalArgumentException.class, () -> job.checkpoints.get(1).take(Duration.ZERO));
            job.addsUp();
        }
    }

    @Test
    void stateThatCannotBeSavedIsNamed() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(2).start(store)) {
            job.checkpoints.get(1).close();
            job.checkpoints.set(
                    1,
                    Checkpoints.of(
                            job.nodes.get(1),
                            store,
                            CheckpointOptions.DEFAULT
                                    .save("a", SealedBuffer::concat)
                                    .save("b", () -> {
                                        throw new IOException("on purpose");
                                    })));
            String message = Job.failure(job.checkpoints.get(0).take(LONG)).getMessage();
            assertTrue(message.endsWith("reason=rank 1: state cannot be saved: name=b reason=on purpose"), message);
            job.addsUp();
        }
    }

    @Test
    void folderThatCannotBeWrittenIsNamed() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        CheckpointStore store = FolderStore.of(file);
        try (Job job = new Job(2).start(store)) {
            String message = Job.failure(job.checkpoints.get(0).take(LONG)).getMessage();
            assertTrue(message.contains(file.toString()), message);
            Files.delete(file);
            Job.done(job.checkpoints.get(0).take(LONG).done());
        }
    }

    /// A store of which one rank's files, or the manifest, have no place.
    private static CheckpointStore full(CheckpointStore store, int rank, boolean manifest) {
        return new Filter(store) {
            @Override
            public RankFile create(long epoch, int of) throws IOException {
                if (of == rank) {
                    throw new CheckpointException(
                            "cannot write checkpoint: epoch=" + epoch + " file=" + FileNames.rank(of)
                                    + " reason=No space left on device",
                            null);
                }
                return super.create(epoch, of);
            }

            @Override
            public void publish(long epoch, ByteBuffer bytes) throws IOException {
                if (manifest) {
                    throw new IOException("No space left on device");
                }
                super.publish(epoch, bytes);
            }
        };
    }

    @Test
    void fullStoreIsNamedAndTheFormerCheckpointStays() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = new Job(3).start(store)) {
            job.pay(30);
            Job.done(job.checkpoints.get(0).take(LONG).done());
            reopen(job, 2, full(store, 2, false));
            String message = Job.failure(job.checkpoints.get(0).take(LONG)).getMessage();
            assertTrue(message.contains("state=CUTTING") || message.contains("state=WRITING"), message);
            assertTrue(
                    message.endsWith("reason=rank 2: cannot write checkpoint: epoch=2 file=rank-00002.bulla"
                            + " reason=No space left on device"),
                    message);
            reopen(job, 2, store);
            reopen(job, 1, full(store, -1, true));
            assertTrue(Job.failure(job.checkpoints.get(1).take(LONG))
                    .getMessage()
                    .endsWith("missing=[] reason=No space left on device"));
            assertEquals(List.of(1L), store.epochs());
            job.moves(50);
            CheckpointSummary next = Job.done(job.checkpoints.get(0).take(LONG).done());
            // what the two have left is deleted
            Job.await("they are gone", () -> !exists(2) && !exists(3));
            assertFalse(next.epoch() < 3);
            job.restore(store);
            job.addsUp();
        }
    }

    private boolean exists(long epoch) {
        return epoch < 4
                && Files.exists(folder.resolve(String.format("checkpoint-%012d", epoch)))
                && !Files.exists(
                        folder.resolve(String.format("checkpoint-%012d", epoch)).resolve("MANIFEST"));
    }

    private static void reopen(Job job, int rank, CheckpointStore store) {
        job.checkpoints.get(rank).close();
        job.checkpoints.set(
                rank,
                Checkpoints.of(
                        job.nodes.get(rank),
                        store,
                        CheckpointOptions.DEFAULT.save("balance", () -> job.balance(rank))));
    }
}
