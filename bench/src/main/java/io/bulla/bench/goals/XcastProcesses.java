// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.ProgramOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A file to 16 processes, which verify it, by the command `./bulla xcast`: 64 MiB, unless it says otherwise.
final class XcastProcesses {

    /// Size of the file in bytes; some hundred more are sent.
    static final int MESSAGE = 64 << 20;

    private static final int SMALL = 1 << 18;
    private static final int PROCESSES = 16;
    private static final int BROADCASTS = 3;
    private static final String TIME = "time";
    private static final String MEMORY = "memory";
    private static final Pattern SECONDS = Pattern.compile("xcast: .* seconds=([0-9.]+)");
    private static final Pattern GROWTH = Pattern.compile("sockets: .* memory-of-all=([0-9]+) .*");
    private static final Map<String, SharedRun> RUNS = new HashMap<>();

    private XcastProcesses() {}

    /// Until every process has verified it: the median of the broadcasts.
    static Case time(String local) {
        return new Case(
                "xcast-" + local + "[" + PROCESSES + "," + MESSAGE + "]",
                "ns",
                run(local, MESSAGE).reading(TIME));
    }

    /// By how much the memory of all processes has grown (PSS) while each had the message: the most of the
    /// broadcasts.
    static Case memory(String local) {
        return new Case(
                "xcast-" + local + "-memory[" + PROCESSES + "," + MESSAGE + "]",
                "bytes",
                run(local, MESSAGE).reading(MEMORY));
    }

    /// The least that it can grow by: the message once, and what the same processes grow by for 256 KiB, which is
    /// code and classes of what they do for the first time.
    static Case leastMemory(String local) {
        Case.Meter small = run(local, SMALL).reading(MEMORY);
        return new Case(
                "xcast-" + local + "-memory[" + PROCESSES + "," + SMALL + "]+" + MESSAGE,
                "bytes",
                length -> small.measure(length) + MESSAGE);
    }

    private static SharedRun run(String local, int bytes) {
        return RUNS.computeIfAbsent(local + bytes, _ -> new SharedRun((_, _) -> measure(local, bytes)));
    }

    private static Map<String, Double> measure(String local, int bytes) throws IOException, InterruptedException {
        Path file = Files.createTempFile("bulla-xcast", null);
        try {
            byte[] content = new byte[bytes];
            new Random(bytes).nextBytes(content);
            Files.write(file, content);
            // with the options and the classes that a user of it has
            List<String> lines = ProgramOutput.of(List.of(
                            Path.of(System.getProperty("bulla.root", "."), "bulla")
                                    .toString(),
                            "xcast",
                            "--processes=" + PROCESSES,
                            "--repeat=" + BROADCASTS,
                            "--local=" + local,
                            file.toString()))
                    .lines();
            double[] seconds = numbers(lines, SECONDS);
            double[] growth = numbers(lines, GROWTH);
            if (seconds.length != BROADCASTS || growth.length != BROADCASTS) {
                throw new IOException("bulla xcast says something else: " + lines);
            }
            return Map.of(TIME, 1e9 * seconds[BROADCASTS / 2], MEMORY, growth[BROADCASTS - 1]);
        } finally {
            Files.delete(file);
        }
    }

    /// Ascending.
    private static double[] numbers(List<String> lines, Pattern pattern) {
        return lines.stream()
                .map(pattern::matcher)
                .filter(Matcher::matches)
                .mapToDouble(number -> Double.parseDouble(number.group(1)))
                .sorted()
                .toArray();
    }
}
