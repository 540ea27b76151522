// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A job of real processes, each a [TokenRank], in one life after the other.
final class TokenJob {

    private static final int TOKENS_OF_EACH = 25;
    private static final int SECONDS = 300;

    final List<Child> children = new ArrayList<>();

    private final int nodes;
    private final Path folder;
    private final List<String> options;
    private int lives;

    /// @param folder of the checkpoints, and of what else there is
    /// @param options further words for each process
    TokenJob(int nodes, Path folder, String... options) throws IOException {
        this.nodes = nodes;
        this.folder = folder;
        this.options = List.of(options);
        Files.createDirectory(checkpoints());
    }

    Path checkpoints() {
        return folder.resolve("checkpoints");
    }

    /// A process, and the lines that it has said and were not looked at.
    record Child(Process process, BlockingQueue<String> lines) {

        void tell(String word) throws IOException {
            process.getOutputStream().write((word + "\n").getBytes());
            process.getOutputStream().flush();
        }

        /// The next line that begins with a word.
        String line(String word) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            List<String> others = new ArrayList<>();
            while (true) {
                String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                assertTrue(line != null, () -> "no line with " + word + " among: " + String.join("\n", others));
                if (line.startsWith(word)) {
                    return line;
                }
                others.add(line);
            }
        }
    }

    /// Processes that have begun, or are restored.
    ///
    /// @return messages that were on their way in the checkpoint
    long start() throws Exception {
        Path addresses = Files.createDirectory(folder.resolve("life-" + lives));
        for (int rank = 0; rank < nodes; rank++) {
            children.add(start(rank, addresses));
        }
        long undelivered = 0;
        for (Child child : children) {
            String first = child.line(lives == 0 ? "begun" : "restored");
            undelivered += lives == 0 ? 0 : Long.parseLong(first.split(" ")[2]);
        }
        lives++;
        return undelivered;
    }

    void tellAll(String word) throws IOException {
        for (Child child : children) {
            child.tell(word);
        }
    }

    private Child start(int rank, Path addresses) throws IOException {
        List<String> command = new ArrayList<>(List.of(
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
                Integer.toString(nodes),
                Integer.toString(TOKENS_OF_EACH),
                checkpoints().toString(),
                addresses.toString()));
        command.addAll(options);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread.ofVirtual().start(() -> {
            try (BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
                out.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException killed) {
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
        } catch (URISyntaxException noPath) {
            throw new AssertionError(noPath);
        }
    }

    /// How often each token is somewhere, once all are there or nothing moves any more.
    int[] count() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        int[] counts;
        int there;
        do {
            counts = new int[nodes * TOKENS_OF_EACH];
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

    void killAll() throws InterruptedException {
        for (Child child : children) {
            child.process.destroyForcibly();
        }
        for (Child child : children) {
            child.process.waitFor();
        }
        children.clear();
    }
}
