// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `bulla node --checkpoint` and `--restore`: processes that send each other numbered messages are killed (-9), and
/// others go on, on other ports. `./check checkpoint` has more of them.
class NodeCheckpointTest {

    private static final int NODES = Integer.getInteger("bulla.nodes", 2);
    private static final int KILLS = Integer.getInteger("bulla.kills", 1);
    private static final Pattern EXCHANGE = Pattern.compile("sent=(\\d+) received=(\\d+) lost=(\\d+) doubled=(\\d+)");

    @TempDir
    private Path folder;

    private final List<NodeProcess> nodes = new ArrayList<>();

    @AfterEach
    void killAll() throws InterruptedException {
        NodeProcess.kill(nodes);
    }

    private static long figure(String line, int which) {
        Matcher words = EXCHANGE.matcher(line);
        assertTrue(words.find(), line);
        return Long.parseLong(words.group(which));
    }

    @Test
    void numbersGoOnInOtherProcesses() throws Exception {
        Path dir = folder.resolve("checkpoints");
        startAll("--checkpoint=" + dir, "--every=300ms");
        long undelivered = 0;
        long received = 0;
        for (int kill = 1; kill <= KILLS; kill++) {
            nodes.getFirst().line(" checkpoint=");
            nodes.getFirst().line(" checkpoint=");
            Thread.sleep(new Random().nextInt(300));
            killAll();
            startAll("--restore=" + dir, "--checkpoint=" + dir, "--every=300ms");
            for (NodeProcess node : nodes) {
                String restored = node.line(" restored=");
                long before = figure(restored, 2);
                undelivered += Long.parseLong(restored.replaceAll(".* undelivered=(\\d+) .*", "$1"));
                String now;
                do {
                    now = node.line(" exchange ");
                    assertEquals("lost=0 doubled=0", now.substring(now.indexOf("lost=")), restored + " " + now);
                } while (figure(now, 2) == before);
                received += figure(now, 2) - before;
            }
        }
        // and once more than was there in the last one
        assertTrue(nodes.getFirst().line(" checkpoint=").contains(" nodes=" + NODES + " "));
        System.out.println("nodes: processes=" + NODES + " kills=" + KILLS + " undelivered=" + undelivered
                + " received-since=" + received + " lost=0 doubled=0");
    }

    private void startAll(String... words) throws IOException {
        Path peers = FreePorts.peersFile(folder, NODES);
        for (int rank = 0; rank < NODES; rank++) {
            List<String> all = new ArrayList<>(List.of(
                    "node",
                    "--rank=" + rank,
                    "--peers=" + peers,
                    "--plaintext",
                    "--exchange=10ms",
                    "--peer-timeout=2m"));
            all.addAll(List.of(words));
            nodes.add(NodeProcess.start(all));
        }
    }

    private String[] node(int rank, String... words) throws IOException {
        List<String> all = new ArrayList<>(List.of(
                "node",
                "--rank=" + rank,
                "--peers=" + FreePorts.peersFile(folder, 2),
                "--plaintext",
                "--exchange=10ms"));
        all.addAll(List.of(words));
        return all.toArray(String[]::new);
    }

    @Test
    void whatDoesNotFitIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        Ran.refused(
                "Invalid value for option '--every': not a time such as 1s or 500ms: given=often",
                node(1, "--checkpoint=" + folder, "--every=often"));
        Ran.refused("--every is with --checkpoint DIR", node(1, "--every=1s"));
        Ran.refused("--checkpoint-on-exit is with --checkpoint DIR", node(1, "--checkpoint-on-exit"));
        Ran.refused(
                "the launcher ends all ranks at once: not with --pmix: --checkpoint-on-exit",
                "node",
                "--pmix",
                "--checkpoint=" + folder,
                "--checkpoint-on-exit");
        Ran.refused("--epoch is with --restore DIR", node(1, "--epoch=1"));
        Ran.refused("--epoch must be at least 0: given=-1", node(1, "--restore=" + folder, "--epoch=-1"));
        Ran.refused("not a folder: " + file, node(1, "--checkpoint=" + file));
        Ran.refused("not a folder: " + file, node(1, "--restore=" + file));
        Ran.refused("no such folder: " + folder.resolve("none"), node(1, "--restore=" + folder.resolve("none")));
        Ran.refused("--rank must be at least 1: given=0", "node", "--rank=0", "--peers=" + file, "--plaintext");
    }

    private static void fails(String message, String... words) {
        Ran ran = Ran.bulla(words);
        assertEquals(1, ran.status(), ran::err);
        assertEquals("bulla: " + message + "\n", ran.err());
    }

    @Test
    void whatCannotBeRestoredIsNamed() throws Exception {
        fails("no whole checkpoint in " + folder, node(1, "--restore=" + folder));
        fails(
                "cannot read checkpoint: epoch=7 file=MANIFEST reason=no such file",
                node(1, "--restore=" + folder, "--epoch=7"));
        // not even root can make files there
        Path nowhere = Path.of("/proc/self/task");
        if (Files.isDirectory(nowhere)) {
            Ran ran = Ran.bulla(node(1, "--checkpoint=" + nowhere));
            assertEquals(1, ran.status());
            assertTrue(
                    ran.err().startsWith("bulla: cannot write checkpoints: folder=/proc/self/task reason="), ran::err);
            assertEquals(1, ran.err().lines().count());
        }
        CheckpointCommandTest.write(folder, 3);
        String of = "checkpoint is of ";
        fails(of + "nodes without --exchange: epoch=3 rank=1", node(1, "--restore=" + folder));
        Files.writeString(folder.resolve("three"), "0 127.0.0.1:1\n1 127.0.0.1:2\n2 127.0.0.1:3\n");
        fails(
                of + "a job of another size: epoch=3 nodes=2 expected=3 folder=" + folder,
                "node",
                "--rank=1",
                "--peers=" + folder.resolve("three"),
                "--plaintext",
                "--restore=" + folder);
        Files.writeString(folder.resolve("checkpoint-000000000003/rank-00001.bulla"), "damaged");
        Ran damaged = Ran.bulla(node(1, "--restore=" + folder));
        assertEquals(1, damaged.status());
        assertTrue(
                damaged.err().startsWith("bulla: checkpoint is damaged: epoch=3 file=rank-00001.bulla reason="),
                damaged::err);
    }
}
