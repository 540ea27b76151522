// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Real processes pass tokens round; all are killed at a random moment, and others go on from the newest checkpoint,
/// on other ports. Every token is there once. `./check checkpoint` has more processes and kills.
class KilledJobTest {

    private static final int KILLS = Integer.getInteger("bulla.kills", 2);
    private static final int NODES = Integer.getInteger("bulla.nodes", 3);
    private static final int TOKENS_OF_EACH = 25;
    private static final int SECONDS = 60;

    private final List<Child> children = new ArrayList<>();
    private final Random random = new Random();

    @AfterEach
    void noProcessIsLeft() throws InterruptedException {
        killAll();
    }

    /// A process, and the lines that it has said and were not looked at.
    private record Child(Process process, BlockingQueue<String> lines) {

        void tell(String word) throws IOException {
            process.getOutputStream().write((word + "\n").getBytes());
            process.getOutputStream().flush();
        }

        /// The next line that begins with a word.
        String line(String word) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            String last = "";
            while (true) {
                String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                assertTrue(line != null, "no line with " + word + ", the last one was: " + last);
                if (line.startsWith(word)) {
                    return line;
                }
                last = line;
            }
        }
    }

    @Test
    void everyTokenIsThereOnceHoweverOftenAllAreKilled(@TempDir Path folder) throws Exception {
        Path checkpoints = Files.createDirectory(folder.resolve("checkpoints"));
        int restores = 0;
        int lost = 0;
        int doubled = 0;
        long undelivered = 0;
        for (int life = 0; life <= KILLS; life++) {
            Path addresses = Files.createDirectory(folder.resolve("life-" + life));
            for (int rank = 0; rank < NODES; rank++) {
                children.add(start(rank, checkpoints, addresses));
            }
            for (Child child : children) {
                String first = child.line(life == 0 ? "begun" : "restored");
                undelivered += life == 0 ? 0 : Long.parseLong(first.split(" ")[2]);
            }
            restores += life == 0 ? 0 : 1;
            int[] counts = count();
            for (int each : counts) {
                lost += each == 0 ? 1 : 0;
                doubled += each > 1 ? each - 1 : 0;
            }
            if (life < KILLS && lost + doubled == 0) {
                for (Child child : children) {
                    child.tell("go");
                }
                children.getFirst().lines.clear();
                children.getFirst().line("checkpoint ");
                children.getFirst().line("checkpoint ");
                Thread.sleep(random.nextInt(300));
                killAll();
            }
        }
        System.out.println("checkpoint: processes=" + NODES + " undelivered=" + undelivered);
        System.out.println(
                "checkpoint: kills=" + KILLS + " restores=" + restores + " lost=" + lost + " doubled=" + doubled);
        assertEquals(
                "kills=" + KILLS + " lost=0 doubled=0", "kills=" + restores + " lost=" + lost + " doubled=" + doubled);
        assertTrue(undelivered > 0, "nothing was on its way at any checkpoint");
    }

    private static Child start(int rank, Path checkpoints, Path addresses) throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Xmx64m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                classPath(),
                TokenRank.class.getName(),
                Integer.toString(rank),
                Integer.toString(NODES),
                Integer.toString(TOKENS_OF_EACH),
                checkpoints.toString(),
                addresses.toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread.ofVirtual().start(() -> {
            try (BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
                out.lines().forEach(lines::add);
            } catch (IOException | java.io.UncheckedIOException killed) {
                lines.add("killed: " + killed.getMessage());
            }
        });
        return new Child(process, lines);
    }

    /// The test's own classes, and whatever it runs on, be it modules or not.
    private static String classPath() {
        try {
            Path tests = Path.of(TokenRank.class.getResource("TokenRank.class").toURI());
            for (int up = 0; up < 5; up++) {
                tests = tests.getParent();
            }
            return String.join(
                    File.pathSeparator,
                    tests.toString(),
                    System.getProperty("jdk.module.path", ""),
                    System.getProperty("java.class.path", ""));
        } catch (java.net.URISyntaxException noPath) {
            throw new AssertionError(noPath);
        }
    }

    /// How often each token is somewhere, once all are there or nothing moves any more.
    private int[] count() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        int[] counts;
        int there;
        do {
            counts = new int[NODES * TOKENS_OF_EACH];
            there = 0;
            for (Child child : children) {
                child.tell("tokens");
                for (int token : TokenRank.tokensOf(child.line("tokens"))) {
                    counts[token]++;
                    there++;
                }
            }
            Thread.sleep(20);
        } while (there < counts.length && System.nanoTime() < end);
        // what is there twice may come late
        Thread.sleep(200);
        for (Child child : children) {
            child.tell("tokens");
            there -= TokenRank.tokensOf(child.line("tokens")).size();
        }
        assertEquals(0, there, "tokens still move");
        return counts;
    }

    private void killAll() throws InterruptedException {
        for (Child child : children) {
            child.process.destroyForcibly();
        }
        for (Child child : children) {
            child.process.waitFor();
        }
        children.clear();
    }
}
