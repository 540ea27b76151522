// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `bulla node --checkpoint-on-exit`: processes that are told to end by SIGTERM leave with a checkpoint of the job,
/// or say why there is none.
class CheckpointOnExitTest {

    // of a run that shall not end by it
    private static final String LONG = "--grace=60m";
    private static final int WITH = 0;
    private static final int WITHOUT = 1;

    @TempDir
    private Path folder;

    private final List<NodeProcess> nodes = new ArrayList<>();
    private Path peers;

    @AfterEach
    void killAll() throws InterruptedException {
        NodeProcess.kill(nodes);
    }

    private Path checkpoints() {
        return folder.resolve("checkpoints");
    }

    /// No checkpoint but at the end.
    private void start(int count, String... words) throws Exception {
        startWith(List.of("60m"), count, words);
    }

    private void startWith(List<String> every, int count, String... words) throws Exception {
        peers = FreePorts.peersFile(folder, count);
        for (int rank = 0; rank < count; rank++) {
            List<String> all = new ArrayList<>(List.of(words));
            all.addAll(List.of("--exchange=10ms", "--every=" + every.get(Math.min(rank, every.size() - 1))));
            nodes.add(process(rank, all));
        }
        for (NodeProcess node : nodes) {
            node.line("listening=");
        }
    }

    private NodeProcess process(int rank, List<String> words) throws Exception {
        List<String> all = new ArrayList<>(List.of(
                "node",
                "--rank=" + rank,
                "--peers=" + peers,
                "--plaintext",
                "--peer-timeout=15s",
                "--checkpoint=" + checkpoints()));
        all.addAll(words);
        return NodeProcess.start(all);
    }

    private static int statusAfterSigterm(NodeProcess node) throws InterruptedException {
        node.terminate();
        return status(node);
    }

    private static int status(NodeProcess node) throws InterruptedException {
        assertTrue(node.process().waitFor(10, TimeUnit.MINUTES), "it does not end");
        return node.process().exitValue();
    }

    /// All go on from the newest one; nothing is lost, nothing there twice.
    private void restoredGoOn(int count) throws Exception {
        NodeProcess.kill(nodes);
        startWith(List.of("100ms"), count, "--restore=" + checkpoints());
        for (NodeProcess node : nodes) {
            node.line(" restored=");
            assertTrue(node.line(" exchange ").endsWith(" lost=0 doubled=0"));
            assertTrue(node.line(" exchange ").endsWith(" lost=0 doubled=0"));
        }
    }

    @Test
    void anyRankLeavesWithACheckpointOfAll() throws Exception {
        start(3, "--checkpoint-on-exit", LONG);
        NodeProcess leaver = nodes.get(1);
        assertEquals(WITH, statusAfterSigterm(leaver));
        String left = leaver.line("left ");
        assertTrue(left.matches("node: rank=1 left with checkpoint=1 nodes=3 messages=\\d+ .*"), left);
        for (NodeProcess other : List.of(nodes.get(0), nodes.get(2))) {
            String said = other.line("peer 1");
            assertTrue(said.endsWith("peer 1 failed: it has closed"), said);
        }
        Ran verified = Ran.bulla("checkpoint", "verify", checkpoints().toString());
        assertEquals(0, verified.status(), verified::err);
        restoredGoOn(3);
    }

    /// As a cluster does to all pods of a set: some are told while one takes it, some when that one has left.
    @Test
    void ranksThatAreToldAtOnceShareOne() throws Exception {
        start(3, "--checkpoint-on-exit", LONG);
        nodes.reversed().forEach(NodeProcess::terminate);
        int with = 0;
        for (NodeProcess node : nodes) {
            if (status(node) == WITH) {
                with++;
                node.line("left with checkpoint=");
            } else {
                assertEquals(WITHOUT, node.process().exitValue());
                String why = node.line("left without");
                assertTrue(
                        why.matches("bulla: left without a checkpoint: newest=\\d+: checkpoint aborted: .* reason=.+"),
                        why);
            }
        }
        assertTrue(with > 0);
        restoredGoOn(3);
    }

    @Test
    void peerThatHasGoneIsNamedAtOnce() throws Exception {
        start(2, "--checkpoint-on-exit", LONG);
        assertEquals(WITH, statusAfterSigterm(nodes.get(0)));
        NodeProcess second = nodes.get(1);
        second.line("peer 0 failed: it has closed");
        assertEquals(WITHOUT, statusAfterSigterm(second));
        String why = second.line("left ");
        assertTrue(
                why.matches("bulla: left without a checkpoint: newest=1: checkpoint aborted: .* missing=\\[0.*\\]"
                        + " reason=peer 0 failed: it has closed.*"),
                why);
    }

    /// Its verdict on the former one still stands where no message has gone there since.
    @Test
    void successorOfOneThatLeftTakesPart() throws Exception {
        peers = FreePorts.peersFile(folder, 3);
        List<String> quiet = List.of("--every=60m", "--checkpoint-on-exit", LONG);
        for (int rank = 0; rank < 3; rank++) {
            nodes.add(process(rank, quiet));
            nodes.get(rank).line("listening=");
        }
        assertEquals(WITH, statusAfterSigterm(nodes.get(2)));
        nodes.get(1).line("peer 2 failed: it has closed");
        nodes.set(2, process(2, quiet));
        nodes.get(2).line("listening=");
        assertEquals(WITH, statusAfterSigterm(nodes.get(1)));
    }

    @Test
    void peerThatIsSilentHasHalfOfTheGrace() throws Exception {
        start(2, "--checkpoint-on-exit", "--grace=2s");
        NodeProcess silent = nodes.get(0);
        NodeProcess leaver = nodes.get(1);
        signal(silent, "-STOP");
        assertEquals(WITHOUT, statusAfterSigterm(leaver));
        String why = leaver.line("left ");
        assertTrue(
                why.matches("bulla: left without a checkpoint: newest=none: checkpoint aborted: .* missing=\\[.*0.*\\]"
                        + " reason=.*(deadline has passed|not ended in time).*"),
                why);
        signal(silent, "-CONT");
        silent.line("peer 1 failed");
    }

    private static void signal(NodeProcess to, String which) throws IOException, InterruptedException {
        assertEquals(
                0,
                new ProcessBuilder("kill", which, Long.toString(to.process().pid()))
                        .inheritIO()
                        .start()
                        .waitFor());
    }

    @Test
    void folderThatCannotBeWrittenIsNamed() throws Exception {
        start(2, "--checkpoint-on-exit", LONG);
        Files.delete(checkpoints());
        Files.writeString(checkpoints(), "a file");
        NodeProcess leaver = nodes.get(1);
        assertEquals(WITHOUT, statusAfterSigterm(leaver));
        String why = leaver.line("left ");
        assertTrue(why.startsWith("bulla: left without a checkpoint: newest="), why);
        assertTrue(nodes.get(0).line("peer 1").endsWith("it has closed"));
    }

    @Test
    void checkpointOfBeforeIsNotTheLast() throws Exception {
        start(2, "--checkpoint-on-exit", LONG);
        assertEquals(WITH, statusAfterSigterm(nodes.get(1)));
        NodeProcess.kill(nodes);
        // of rank 1 it is the time of its lines alone
        startWith(List.of("60m", "100ms"), 2, "--restore=" + checkpoints(), "--checkpoint-on-exit", LONG);
        NodeProcess leaver = nodes.get(1);
        long before = sent(leaver.line(" restored=1 "));
        while (sent(leaver.line(" exchange ")) == before) {
            // not yet
        }
        assertEquals(WITH, statusAfterSigterm(leaver));
        String left = leaver.line("left ");
        assertTrue(left.contains(" left with checkpoint=2 "), left);
    }

    /// Rank 0 takes them as fast as it can.
    @Test
    void othersInProgressAreWaitedFor() throws Exception {
        startWith(List.of("1ms"), 2, "--checkpoint-on-exit", LONG);
        nodes.get(0).line(" checkpoint=");
        for (int leaves = 1; leaves >= 0; leaves--) {
            NodeProcess leaver = nodes.get(leaves);
            assertEquals(WITH, statusAfterSigterm(leaver));
            leaver.line("left with checkpoint=");
            NodeProcess.kill(nodes);
            startWith(List.of("1ms"), 2, "--restore=" + checkpoints(), "--checkpoint-on-exit", LONG);
            nodes.get(0).line(" checkpoint=");
        }
        restoredGoOn(2);
    }

    private static long sent(String line) {
        return Long.parseLong(line.replaceAll(".* sent=(\\d+) .*", "$1"));
    }
}
