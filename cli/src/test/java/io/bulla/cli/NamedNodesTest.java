// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.needs.Piece;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Nodes with a pattern of names in place of a peers file.
class NamedNodesTest {

    private static final String NAMES = "--peers=dns:bulla-{rank}.bulla:7000";

    @TempDir
    private Path folder;

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void endProcesses() throws InterruptedException {
        for (Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void nodesOfNamesServeARoot() throws Exception {
        Path file = Files.write(folder.resolve("payload"), new byte[100_000]);
        int port = freePort();
        String peers = "--peers=dns:127.0.0.1{rank}:" + port;
        // the first by its option, the second by the name of its host
        BufferedReader first = start("elsewhere", peers, "--bind=127.0.0.11:" + port, "--rank=1");
        BufferedReader second = start("bulla-2.bulla.svc", peers, "--bind=127.0.0.12:" + port);
        assertEquals("node: rank=1 listening=127.0.0.11:" + port + " security=none", first.readLine());
        assertEquals("node: rank=2 listening=127.0.0.12:" + port + " security=none", second.readLine());
        Ran ran = Ran.bulla(
                "xcast", peers, "--nodes=2", "--radix=1", "--bind=127.0.0.10:" + port, "--plaintext", file.toString());
        assertEquals(0, ran.status(), ran::err);
        assertEquals(
                "security=none nodes=2 named 127.0.0.1{rank}:" + port,
                ran.out().lines().findFirst().orElse(""));
        assertEquals(2, ran.figure("verified"));
    }

    @Test
    void nameThatIsNotKnownIsNamed() throws IOException {
        Path file = Files.write(folder.resolve("payload"), new byte[100]);
        // the JDK knows that it is none, and asks no name server
        Ran ran = Ran.bulla(
                "xcast",
                "--peers=dns:0x7f.0.0.{rank}:7000",
                "--nodes=1",
                "--bind=127.0.0.1:0",
                "--plaintext",
                "--peer-timeout=11s",
                file.toString());
        assertEquals(1, ran.status());
        assertTrue(ran.err().startsWith("bulla: peer 1 failed: no connection: millis=11000 last="), ran::err);
        assertTrue(ran.err().contains("unknown name: name=0x7f.0.0.1 rank=1 reason="), ran::err);
    }

    @Test
    void typosAreRefusedInOneLine() {
        Ran.refused(
                "--peers dns: pattern has no {rank}: pattern=bulla-3.bulla:7000",
                "node",
                "--rank=1",
                "--nodes=3",
                "--peers=dns:bulla-3.bulla:7000",
                "--plaintext");
        Ran.refused(
                "--peers dns: port is not 1 to 65535: pattern=bulla-{rank}.bulla:-7000",
                "xcast",
                "--nodes=3",
                "--peers=dns:bulla-{rank}.bulla:-7000",
                "--plaintext",
                "file");
        Ran.refused(
                "a pattern of names is --peers dns:PATTERN: given=DNS:bulla-{rank}.bulla:7000",
                "node",
                "--rank=1",
                "--peers=DNS:bulla-{rank}.bulla:7000",
                "--plaintext");
    }

    @Test
    void namesNeedACountAndARank() {
        Ran.refused(
                "--peers dns: needs --nodes: how many there are besides the root",
                "node",
                "--rank=1",
                NAMES,
                "--plaintext");
        Ran.refused(
                "--peers dns: needs --nodes: how many there are besides the root",
                "xcast",
                NAMES,
                "--plaintext",
                "file");
        Ran.refused("--nodes must be at least 1: given=0", "xcast", NAMES, "--nodes=0", "--plaintext", "file");
        Ran.refused(
                "--nodes must be less than 1048576: given=2147483647",
                "node",
                "--rank=1",
                NAMES,
                "--nodes=2147483647",
                "--plaintext");
        Ran.refused("--rank is not a node: rank=4 nodes=3", "node", "--rank=4", NAMES, "--nodes=3", "--plaintext");
        Ran.refused(
                "only one can be: --nodes, --processes, --peers or --pmix",
                "xcast",
                NAMES,
                "--nodes=2",
                "--processes=2",
                "file");
        Ran.refused("--bind is with --peers", "xcast", "--nodes=2", "--bind=127.0.0.1:0", "file");
    }

    @Test
    void hostNameWithoutARankIsNamed() throws Exception {
        Process node = process("bulla-three", NAMES, "--nodes=3").start();
        started.add(node);
        assertEquals(
                "bulla: --rank is not given, and no host name as bulla-3 has one: HOSTNAME=bulla-three",
                node.errorReader().readLine());
        assertEquals(2, node.waitFor());
    }

    private BufferedReader start(String host, String... words) throws IOException {
        List<String> all = new ArrayList<>(List.of(words));
        all.addAll(List.of("--nodes=2", "--radix=1"));
        started.add(process(host, all.toArray(String[]::new))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        return started.getLast().inputReader();
    }

    private static ProcessBuilder process(String host, String... words) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Bulla.class.getName(),
                "node",
                "--plaintext"));
        command.addAll(List.of(words));
        ProcessBuilder process = new ProcessBuilder(command);
        process.environment().put("HOSTNAME", host);
        return process;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.11"))) {
            return socket.getLocalPort();
        } catch (IOException without) {
            Piece.LOOPBACK_ADDRESSES.orSkip(without);
            throw without;
        }
    }
}
