// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import io.bulla.testkit.needs.Probe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Tries the `criu` of the path: what it says of this kernel, then an image of `sleep`.
final class CriuDumps implements Probe {

    @Override
    public @Nullable String missing() throws IOException, InterruptedException {
        Optional<Criu> found = Criu.onPath();
        if (found.isEmpty()) {
            return "not on the path";
        }
        String criu = found.get().program().toString();
        String lacks = run(criu, "check");
        return lacks != null ? lacks : dump(criu);
    }

    private static @Nullable String dump(String criu) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("bulla-criu");
        Process sleep = new ProcessBuilder("setsid", "sleep", "600")
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return run(criu, "dump", "--tree", "" + sleep.pid(), "--images-dir", "" + folder, "--shell-job");
        } finally {
            sleep.destroyForcibly().waitFor();
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }

    /// What a command said last, if it failed.
    private static @Nullable String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> said;
        try (var out = process.inputReader()) {
            said = out.lines().filter(line -> !line.isBlank()).toList();
        }
        int status = process.waitFor();
        return status == 0
                ? null
                : "cannot dump: " + command[1] + " status=" + status + " said="
                        + (said.isEmpty() ? "" : said.getLast());
    }
}
