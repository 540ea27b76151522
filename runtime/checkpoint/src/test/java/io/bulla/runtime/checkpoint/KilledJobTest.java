// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real processes pass tokens round; all are killed at a random moment, and others go on from the newest checkpoint,
/// on other ports. Every token is there once. `./check checkpoint` has more processes and kills.
class KilledJobTest {

    private static final int KILLS = Integer.getInteger("bulla.kills", 2);
    private static final int NODES = Integer.getInteger("bulla.nodes", 3);

    private final Random random = new Random();
    private TokenJob job;

    @AfterEach
    void noProcessIsLeft() throws InterruptedException {
        job.killAll();
    }

    @Test
    void everyTokenIsThereOnceHoweverOftenAllAreKilled(@TempDir Path folder) throws Exception {
        job = new TokenJob(NODES, folder);
        int restores = 0;
        int lost = 0;
        int doubled = 0;
        long undelivered = 0;
        for (int life = 0; life <= KILLS; life++) {
            undelivered += job.start();
            restores += life == 0 ? 0 : 1;
            for (int each : job.count()) {
                lost += each == 0 ? 1 : 0;
                doubled += each > 1 ? each - 1 : 0;
            }
            if (life < KILLS && lost + doubled == 0) {
                job.tellAll("go");
                job.children.getFirst().lines().clear();
                job.children.getFirst().line("checkpoint ");
                job.children.getFirst().line("checkpoint ");
                Thread.sleep(random.nextInt(300));
                job.killAll();
            }
        }
        System.out.println("checkpoint: processes=" + NODES + " undelivered=" + undelivered);
        System.out.println(
                "checkpoint: kills=" + KILLS + " restores=" + restores + " lost=" + lost + " doubled=" + doubled);
        assertEquals(
                "kills=" + KILLS + " lost=0 doubled=0", "kills=" + restores + " lost=" + lost + " doubled=" + doubled);
        assertTrue(undelivered > 0, "nothing was on its way at any checkpoint");
    }
}
