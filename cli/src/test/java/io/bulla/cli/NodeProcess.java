// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A process of the command, and the lines that it has said, errors among them, and were not looked at.
record NodeProcess(Process process, BlockingQueue<String> lines) {

    // patience
    private static final int SECONDS = 120;
    private static final String END = "the output has ended";

    /// @param words after `bulla`
    static NodeProcess start(List<String> words) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Xmx96m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Bulla.class.getName()));
        command.addAll(words);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread.ofVirtual().start(() -> {
            try (BufferedReader out = process.inputReader()) {
                out.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException killed) {
                lines.add("killed: " + killed.getMessage());
            } finally {
                lines.add(END);
            }
        });
        return new NodeProcess(process, lines);
    }

    /// -9, and waits for their ends.
    static void kill(List<NodeProcess> all) throws InterruptedException {
        for (NodeProcess each : all) {
            each.process.destroyForcibly();
        }
        for (NodeProcess each : all) {
            each.process.waitFor();
        }
        all.clear();
    }

    /// SIGTERM; what it says is heard still.
    void terminate() {
        // the process' own would close the stream
        process.toHandle().destroy();
    }

    /// The next line in which this is.
    String line(String part) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        List<String> before = new ArrayList<>();
        while (true) {
            String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            assertTrue(line != null && !line.equals(END), () -> "no line with " + part + ": " + before);
            if (line.contains(part)) {
                return line;
            }
            before.add(line);
        }
    }
}
