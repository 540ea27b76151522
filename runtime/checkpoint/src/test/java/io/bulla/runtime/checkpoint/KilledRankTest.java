// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.needs.Piece;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// One process is killed (-9) between PREPARE and COMMIT, for `./check checkpoint`: it takes as long as a verdict
/// does.
class KilledRankTest {

    private static final int NODES = 3;

    private TokenJob job;

    @AfterEach
    void noProcessIsLeft() throws InterruptedException {
        if (job != null) {
            job.killAll();
        }
    }

    /// Rank 0 has asked; the handlers of another rank do not come back, so it has not cut.
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 2", "0, 2"})
    void ticketNamesItAndTheFormerCheckpointIsWhole(int killed, int held, @TempDir Path folder) throws Exception {
        boolean all = System.getProperty("bulla.kills") != null && !Boolean.getBoolean("bulla.short");
        boolean one = System.getProperty("bulla.kills") != null && killed == 1 && held == 1;
        Piece.LONG_CHECK.orSkip(all || one ? null : "./check checkpoint");
        job = new TokenJob(NODES, folder, "10");
        job.start();
        TokenJob.Child asks = job.children.getFirst();
        job.tellAll("go");
        asks.tell("take");
        assertEquals("checkpoint 1", asks.line("checkpoint "));
        job.children.get(held).tell("hold");
        job.children.get(held).line("holds");
        asks.tell("take");
        String ticket;
        do {
            Thread.sleep(10);
            asks.tell("ticket");
            ticket = asks.line("ticket ");
            assertNotEquals("ticket ABORTED", ticket.substring(0, 14));
        } while (!ticket.equals("ticket CUTTING [" + held + "]"));
        job.children.get(killed).process().destroyForcibly().waitFor();
        if (killed != 0) {
            String why = asks.line("checkpoint aborted: ");
            assertTrue(
                    why.matches("checkpoint aborted: epoch=2 state=CUTTING missing=\\[" + held + "\\]"
                            + " reason=rank [02]: peer failed: rank=[02] peer=" + killed + " reason=.*"),
                    why);
        }
        CheckpointArchive archive = CheckpointArchive.of(FolderStore.of(job.checkpoints()));
        assertEquals(List.of(1L), FolderStore.of(job.checkpoints()).epochs());
        archive.verify(archive.manifest(1));
        job.killAll();
        job.start();
        int[] once = new int[NODES * 25];
        Arrays.fill(once, 1);
        assertArrayEquals(once, job.count());
        System.out.println(
                "rank: killed=" + killed + " state=CUTTING missing=[" + held + "] former=whole lost=0 doubled=0");
    }
}
