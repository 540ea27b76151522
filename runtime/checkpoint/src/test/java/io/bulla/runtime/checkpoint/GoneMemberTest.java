// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Attempts that begin after a member was given up: no verdict falls while one runs.
class GoneMemberTest {

    // longer than anybody waits: what ends has not waited for it
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path folder;

    private static void leaves(Job job, int rank) {
        job.checkpoints.get(rank).close();
        job.nodes.get(rank).close();
        for (int other = 0; other < job.nodes.size(); other++) {
            int judge = other;
            Job.await("the verdict of " + judge, () -> judge == rank || hasJudged(job, judge, rank));
        }
    }

    private static boolean hasJudged(Job job, int judge, int rank) {
        return job.nodes.get(judge).stats().stream().anyMatch(peer -> peer.peer() == rank && peer.failures() > 0);
    }

    private static Job connected(CheckpointStore store) throws Exception {
        Job job = new Job(3).start(store);
        // each to each
        job.pay(30);
        job.moves(300);
        job.addsUp();
        return job;
    }

    @Test
    void attemptWithAMemberThatIsGoneEndsByNameAndNotAtItsDeadline() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = connected(store)) {
            Job.done(job.checkpoints.get(0).take(HOUR).done());
            leaves(job, 2);
            for (int asks = 0; asks < 2; asks++) {
                CheckpointTicket ticket = job.checkpoints.get(asks).take(HOUR);
                Throwable failure = assertThrows(ExecutionException.class, () -> Job.done(ticket.done()))
                        .getCause();
                String why =
                        assertInstanceOf(CheckpointException.class, failure).getMessage();
                assertTrue(
                        why.matches(
                                "checkpoint aborted: epoch=.* missing=\\[.*2\\] reason=peer 2 failed: it has closed;"
                                        + " not reached since: .*"),
                        why);
            }
            assertEquals(List.of(1L), store.epochs());
        }
    }

    @Test
    void memberThatIsBackTakesPart() throws Exception {
        CheckpointStore store = FolderStore.of(folder);
        try (Job job = connected(store)) {
            leaves(job, 2);
            job.startAgain(2, store);
            CheckpointSummary taken = Job.done(job.checkpoints.get(0).take(HOUR).done());
            assertEquals(3, taken.nodes());
        }
    }
}
