// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.runtime.checkpoint.CheckpointTicket.State;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A store that does not answer while it writes the manifest keeps no ticket for ever.
class HangingStoreTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch answers = new CountDownLatch(1);

    @TempDir
    private Path folder;

    private CheckpointStore hanging() {
        return new Filter(FolderStore.of(folder)) {
            @Override
            public void publish(long epoch, ByteBuffer manifest) throws IOException {
                begun.countDown();
                try {
                    answers.await();
                } catch (InterruptedException stop) {
                    throw new IOException(stop);
                }
                super.publish(epoch, manifest);
            }
        };
    }

    @Test
    void ticketEndsAtItsDeadlineAndTheCheckpointMayComeStill() throws Exception {
        CheckpointStore store = hanging();
        try (Job job = new Job(2).start(store)) {
            try {
                CheckpointTicket ticket = hangs(job);
                String why = Job.failure(ticket).getMessage();
                assertTrue(why.contains("the store has not answered: millis=") && why.contains("; whether the"), why);
                assertEquals(State.ABORTED, ticket.state());
                assertTrue(Job.failure(job.checkpoints.get(0).take(LONG))
                        .getMessage()
                        .contains("another checkpoint is being taken: epoch="));
            } finally {
                answers.countDown();
            }
            Job.await("it exists after all", () -> exists(store));
            Job.await("the next can be taken", () -> isTaken(job));
            job.addsUp();
        }
    }

    /// A ticket whose deadline comes while the manifest is written: as long as the machine needs to get there.
    private CheckpointTicket hangs(Job job) {
        for (Duration deadline = Duration.ofSeconds(1); ; deadline = deadline.multipliedBy(2)) {
            CheckpointTicket ticket = job.checkpoints.get(0).take(deadline);
            CompletableFuture<?> over = ticket.done().toCompletableFuture();
            Job.await("written or late", () -> begun.getCount() == 0 || over.isDone());
            if (begun.getCount() == 0) {
                return ticket;
            }
        }
    }

    private static boolean exists(CheckpointStore store) {
        try {
            return !store.epochs().isEmpty();
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    private static boolean isTaken(Job job) {
        try {
            return Job.done(job.checkpoints.get(0).take(LONG).done()).epoch() > 1;
        } catch (Exception notYet) {
            return false;
        }
    }

    @Test
    void ticketEndsWhenCheckpointsAreClosed() throws Exception {
        try (Job job = new Job(2).start(hanging())) {
            try {
                CheckpointTicket ticket = job.checkpoints.get(0).take(LONG);
                begun.await();
                Thread closer =
                        Thread.ofPlatform().start(() -> job.checkpoints.get(0).close());
                String why = Job.failure(ticket).getMessage();
                assertTrue(why.contains("checkpoints are closed: rank=0; whether the checkpoint exists"), why);
                answers.countDown();
                closer.join();
            } finally {
                answers.countDown();
            }
            job.addsUp();
        }
    }
}
