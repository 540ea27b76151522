// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Nodes that are processes of their own.
class NodeTest {

    @TempDir
    private Path folder;

    private Path file;
    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void writeFile() throws IOException {
        byte[] content = new byte[700_000];
        new Random(2).nextBytes(content);
        file = Files.write(folder.resolve("payload"), content);
    }

    @AfterEach
    void endProcesses() throws InterruptedException {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void everyProcessVerifiesAndNothingIsCopied() {
        Ran ran = Ran.bulla("xcast", "--processes=3", "--radix=2", "--repeat=2", "--local=bytes", file.toString());
        assertEquals(0, ran.status(), ran::err);
        assertEquals(
                "security=none nodes=3 in 3 processes",
                ran.out().lines().findFirst().orElse(""));
        assertEquals(
                2, ran.out().lines().filter(line -> line.startsWith("xcast: ")).count());
        String last = ran.lastLine();
        assertTrue(
                last.matches("xcast: nodes=3 radix=2 bytes=\\d+ sends=3 payload-copies=0 payload-bytes-allocated=\\d+"
                        + " verified=3 handles-open=0 seconds=\\d+\\.\\d{3}"),
                last);
        assertTrue(ran.figure("payload-bytes-allocated") >= 3 * ran.figure("bytes"), last);
        assertTrue(ran.figure("payload-bytes-allocated") <= 1.2 * 3 * ran.figure("bytes"), last);
    }

    @Test
    void processesWhoseJvmsSayMoreAreFound() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "-cp",
                System.getProperty("java.class.path"),
                Bulla.class.getName(),
                "xcast",
                "--processes=1",
                "--timeout=60",
                file.toString());
        builder.environment().put("JAVA_TOOL_OPTIONS", "-Xlog:gc");
        Process bulla = builder.redirectErrorStream(true).start();
        started.add(bulla);
        String said = new String(bulla.getInputStream().readAllBytes());
        assertEquals(0, bulla.waitFor(), said);
        assertTrue(said.contains("[gc]"), said);
        assertTrue(said.contains(" verified=1 "), said);
    }

    @Test
    void processesOfOneHostBorrowTheMessage() {
        Ran ran = Ran.bulla("xcast", "--processes=3", "--repeat=3", file.toString());
        assertEquals(0, ran.status(), ran::err);
        String last = ran.lastLine();
        // what is lent cannot be lent on: all are children of the root
        assertTrue(last.startsWith("xcast: nodes=3 radix=3 "), last);
        assertTrue(last.contains(" verified=3 handles-open=0 "), last);
        assertTrue(ran.figure("payload-bytes-allocated") < ran.figure("bytes"), last);
        String sockets = ran.out()
                .lines()
                .filter(line -> line.startsWith("sockets: "))
                .toList()
                .getLast();
        assertTrue(sockets.matches("sockets: socket-bytes=\\d+ memory-of-all=-?\\d+ messages=\\d+\\.\\d\\d"), sockets);
        long crossed = Long.parseLong(sockets.replaceAll(".*socket-bytes=(\\d+) .*", "$1"));
        assertTrue(crossed < ran.figure("bytes"), sockets);
    }

    @Test
    void processesOfOneHostHandOnTheMessagesFile() {
        Ran ran = Ran.bulla("xcast", "--processes=3", "--radix=1", "--local=seal", "--repeat=3", file.toString());
        assertEquals(0, ran.status(), ran::err);
        String last = ran.lastLine();
        assertTrue(last.startsWith("xcast: nodes=3 radix=1 "), last);
        assertTrue(last.contains(" verified=3 handles-open=0 "), last);
        assertTrue(ran.figure("payload-bytes-allocated") < ran.figure("bytes"), last);
    }

    @Test
    void processesKnowEachOtherByCertificates() {
        Ran ran = Ran.bulla("xcast", "--processes=2", "--radix=1", "--tls", file.toString());
        assertEquals(0, ran.status(), ran::err);
        assertEquals(
                "security=tls nodes=2 in 2 processes",
                ran.out().lines().findFirst().orElse(""));
        assertEquals(2, ran.figure("verified"));
    }

    @Test
    void processesSignWhatTheyBroadcast() {
        Ran ran = Ran.bulla("xcast", "--processes=2", "--radix=1", "--tls", "--sign", file.toString());
        assertEquals(0, ran.status(), ran::err);
        assertEquals(
                "security=tls signed nodes=2 in 2 processes",
                ran.out().lines().findFirst().orElse(""));
        assertEquals(2, ran.figure("verified"));
    }

    @Test
    void nodeThatWantsSignaturesTakesNothingElse() throws Exception {
        assertEquals(
                0,
                Ran.bulla("cert", "--nodes=1", "--out=" + folder.resolve("certs"))
                        .status());
        Path peers = FreePorts.peersFile(folder, 2);
        String certs = "--certs=" + folder.resolve("certs");
        BufferedReader said =
                start("node", "--rank=1", "--peers=" + peers, certs, "--sign").inputReader();
        assertTrue(said.readLine().endsWith("security=tls"));
        Ran unsigned = Ran.bulla("xcast", "--peers=" + peers, certs, file.toString());
        assertEquals(1, unsigned.status());
        assertTrue(unsigned.err().endsWith("(failed=[1] verified=0 nodes=1)\n"), unsigned::err);
        Ran signed = Ran.bulla("xcast", "--peers=" + peers, certs, "--sign", file.toString());
        assertEquals(0, signed.status(), signed::err);
        assertEquals(1, signed.figure("verified"));
    }

    @Test
    void deadProcessIsNamedAndWhoIsBelowItVerifiesNevertheless() {
        Ran ran = Ran.bulla(
                "xcast", "--processes=3", "--radix=1", "--fail-node=2", "--peer-timeout=10s", file.toString());
        assertEquals(1, ran.status());
        assertTrue(ran.err().startsWith("bulla: peer 2 failed"), ran::err);
        assertTrue(ran.err().endsWith("(failed=[2] verified=2 nodes=3)\n"), ran::err);
    }

    @Test
    void nodesOfAPeersFileServeOneRootAfterAnother() throws Exception {
        assertEquals(
                0,
                Ran.bulla("cert", "--nodes=2", "--out=" + folder.resolve("certs"))
                        .status());
        Path peers = FreePorts.peersFile(folder, 3);
        String certs = "--certs=" + folder.resolve("certs");
        List<BufferedReader> said = new ArrayList<>();
        for (int rank = 1; rank <= 2; rank++) {
            said.add(start("node", "--rank=" + rank, "--peers=" + peers, certs).inputReader());
        }
        for (int rank = 1; rank <= 2; rank++) {
            String line = said.get(rank - 1).readLine();
            assertTrue(line.matches("node: rank=" + rank + " listening=127\\.0\\.0\\.1:\\d+ security=tls"), line);
        }
        for (int i = 0; i < 2; i++) {
            Ran ran = Ran.bulla("xcast", "--peers=" + peers, certs, file.toString());
            assertEquals(0, ran.status(), ran::err);
            assertEquals(
                    "security=tls nodes=2 of the peers file",
                    ran.out().lines().findFirst().orElse(""));
            assertEquals(2, ran.figure("verified"));
            String seen = said.getFirst().readLine();
            assertTrue(seen.matches("node: rank=1 origin=0 bytes=\\d+ verified"), seen);
            assertEquals(
                    "node: rank=1 peer 0 failed: it has closed", said.getFirst().readLine());
        }
        started.getFirst().destroy();
        assertTrue(started.getFirst().waitFor(10, TimeUnit.SECONDS));
    }

    @Test
    void nodeThatIsAskedToLeaveSaysGoodbyeAndEndsWell() throws Exception {
        Path peers = FreePorts.peersFile(folder, 3);
        Path ready = Files.write(folder.resolve("ready"), new byte[0]);
        Process leaver = start(
                "node", "--rank=1", "--peers=" + peers, "--plaintext", "--radix=1", "--grace=30s", "--ready=" + ready);
        Process stayer = start("node", "--rank=2", "--peers=" + peers, "--plaintext", "--radix=1");
        BufferedReader left = stayer.inputReader();
        assertTrue(leaver.inputReader().readLine().endsWith("security=none"));
        assertTrue(left.readLine().endsWith("security=none"));
        Ran ran = Ran.bulla("xcast", "--peers=" + peers, "--plaintext", "--radix=1", file.toString());
        assertEquals(2, ran.figure("verified"), ran::err);
        assertTrue(Files.exists(ready));
        // SIGTERM
        leaver.destroy();
        assertEquals(0, leaver.waitFor());
        assertFalse(Files.exists(ready));
        String heard = left.readLine();
        while (!heard.contains("peer 1")) {
            heard = left.readLine();
        }
        assertEquals("node: rank=2 peer 1 failed: it has closed", heard);
    }

    @Test
    void nodeThatIsAskedTwiceEndsAtOnce() throws Exception {
        Path ready = folder.resolve("ready");
        // a peer that is not there keeps what is queued
        Process node = start(
                "node",
                "--rank=1",
                "--peers=" + FreePorts.peersFile(folder, 2),
                "--plaintext",
                "--exchange=1ms",
                "--peer-timeout=60m",
                "--checkpoint=" + folder.resolve("checkpoints"),
                "--grace=60m",
                "--stats=200ms",
                "--ready=" + ready);
        BufferedReader said = node.inputReader();
        while (!said.readLine().matches(".* queued=[1-9].*") || !Files.exists(ready)) {
            // not yet
        }
        node.destroy();
        while (Files.exists(ready)) {
            Thread.sleep(1);
        }
        node.destroy();
        assertTrue(node.waitFor(10, TimeUnit.MINUTES));
        assertEquals(143, node.exitValue());
    }

    @Test
    void readyFileIsThereWhileTheNodeIs() throws Exception {
        Path peers = FreePorts.peersFile(folder, 2);
        Path missing = folder.resolve("missing").resolve("ready");
        Ran ran = Ran.bulla("node", "--rank=1", "--peers=" + peers, "--plaintext", "--ready=" + missing);
        assertEquals(1, ran.status());
        assertEquals(
                "bulla: cannot make the file of --ready: file=" + missing + " reason=NoSuchFileException\n", ran.err());
        // of a process that was killed, whose file is not this one's
        Path ready = Files.write(folder.resolve("ready"), new byte[0]);
        ran = Ran.bulla(
                "node", "--rank=1", "--peers=" + peers, "--bind=192.0.2.1:1", "--plaintext", "--ready=" + ready);
        assertEquals(1, ran.status());
        assertFalse(Files.exists(ready));
        ran = Ran.bulla("node", "--rank=1", "--peers=" + peers, "--plaintext", "--ready=" + file);
        assertEquals(1, ran.status());
        assertEquals("bulla: not an empty file, so it is not one of --ready: file=" + file + "\n", ran.err());
        assertTrue(Files.exists(file));
        Ran.refused(
                "the launcher knows when a rank is there: not with --pmix: --ready",
                "node",
                "--pmix",
                "--ready=" + ready);
    }

    @Test
    void nodeEndsWithItsInput() throws Exception {
        Process node = start("node", "--rank=1", "--nodes=1", "--peers=-", "--bind=127.0.0.1:0", "--plaintext");
        assertTrue(node.inputReader().readLine().endsWith("security=none"));
        node.outputWriter().append("0 127.0.0.1:1\n1 127.0.0.1:2\n\n").flush();
        assertFalse(node.waitFor(300, TimeUnit.MILLISECONDS));
        node.outputWriter().close();
        assertTrue(node.waitFor(10, TimeUnit.SECONDS));
        assertEquals(0, node.exitValue());
    }

    @Test
    void peersThatAreNotThereAreNamed() throws IOException {
        Path peers = FreePorts.peersFile(folder, 2);
        Ran ran = Ran.bulla("xcast", "--peers=" + peers, "--plaintext", "--peer-timeout=300ms", file.toString());
        assertEquals(1, ran.status());
        assertTrue(ran.err().startsWith("bulla: peer 1 failed: no connection: millis=300 "), ran::err);
    }

    @Test
    void statsShowQueuesAndHolders() {
        Ran ran = Ran.bulla("xcast", "--nodes=2", "--repeat=40", "--stats=5ms", file.toString());
        assertEquals(0, ran.status(), ran::err);
        assertTrue(ran.out().lines().anyMatch(line -> line.matches("stats: rank=0 peers=2 queued=[1-9].*")), ran::out);
        assertTrue(ran.out().contains("to peer 1: handles="), ran::out);
    }

    @Test
    void usageErrorsHaveStatusTwo() {
        String path = file.toString();
        Ran.refused(
                "only one can be: --nodes, --processes, --peers or --pmix",
                "xcast",
                "--nodes=2",
                "--processes=2",
                path);
        Ran.refused("--processes must be at least 1: given=0", "xcast", "--processes=0", path);
        Ran.refused(
                "peers have to prove who they are: --certs DIR, --secret FILE, or, for no protection at all,"
                        + " --plaintext",
                "xcast",
                "--peers=" + path,
                path);
        Ran.refused(
                "only one can be: --certs DIR, --secret FILE, or, for no protection at all, --plaintext",
                "node",
                "--rank=1",
                "--peers=" + path,
                "--plaintext",
                "--certs=" + folder);
        Ran.refused(
                "--certs, --secret and --plaintext are for --peers; with --nodes and --processes there is --tls",
                "xcast",
                "--plaintext",
                path);
        Ran.refused(
                "--sign is with certificates: --certs DIR, or --tls for nodes that xcast starts",
                "node",
                "--rank=1",
                "--peers=" + path,
                "--plaintext",
                "--sign");
        Ran.refused("--rank must be at least 1: given=0", "node", "--rank=0", "--peers=-", "--plaintext");
        Ran.refused(
                "--peers - needs --nodes: how many there are besides the root",
                "node",
                "--rank=1",
                "--peers=-",
                "--plaintext");
        Ran.refused(
                "Invalid value for option '--stats': not a time such as 1s or 500ms: given=fast",
                "xcast",
                "--stats=fast",
                path);
    }

    @Test
    void whatTheMachineCannotHoldIsRefusedBeforeAProcessStarts() {
        Ran ran = Ran.bulla("xcast", "--processes=20000000", file.toString());
        assertEquals(2, ran.status());
        ran = Ran.bulla("xcast", "--processes=60000", file.toString());
        assertEquals(1, ran.status());
        assertTrue(ran.err().startsWith("bulla: not enough memory, every process holds what it receives: "), ran::err);
    }

    private Process start(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Bulla.class.getName()));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        started.add(process);
        return process;
    }
}
