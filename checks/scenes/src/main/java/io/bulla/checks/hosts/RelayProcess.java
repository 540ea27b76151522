// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A [Relay], seen from the check. It ends when this is closed, or when the check ends.
final class RelayProcess implements AutoCloseable {

    /// What has gone through it.
    ///
    /// @param frames that were handed on; one may have 64 KiB
    /// @param dropped frames that the kernel did not take
    /// @param overtaken frames that came in before one that has gone out
    /// @param latestMicros the longest time that a frame was held beyond its delay
    /// @param lost frames that it has thrown away, as it was told to
    record Figures(long frames, long bytes, long dropped, long overtaken, long latestMicros, long lost) {}

    private final Process process;
    private final BufferedReader output;
    private final Writer input;

    /// @param space namespace in which it makes its interfaces
    /// @param interfaces their names
    /// @throws IOException if it cannot make them; the message says why
    RelayProcess(String space, List<String> interfaces) throws IOException {
        List<String> command = new ArrayList<>(Spaces.within(space));
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Xmx64m",
                // frames on their way
                "-XX:MaxDirectMemorySize=1g",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Relay.class.getName()));
        command.addAll(interfaces);
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        output = process.inputReader();
        input = process.outputWriter();
        String said = output.readLine();
        if (!"ready".equals(said)) {
            close();
            throw new IOException("no relay: " + said);
        }
    }

    /// @param micros how long each frame is held, in either direction
    /// @param twicePercent of how many in a hundred twice as long, so that later ones overtake it
    /// @param lostPercent of how many in a hundred are lost
    void path(long micros, int twicePercent, int lostPercent) throws IOException {
        input.append("path " + micros + " " + twicePercent + " " + lostPercent + "\n")
                .flush();
    }

    /// What has gone through it since the last call.
    Figures figures() throws IOException {
        input.append("figures\n").flush();
        String line = output.readLine();
        if (line == null || !line.startsWith("figures ")) {
            throw new IOException("the relay has failed: " + line);
        }
        String[] words = line.split(" ");
        return new Figures(
                Long.parseLong(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        boolean interrupted = false;
        while (process.isAlive()) {
            try {
                process.waitFor();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
