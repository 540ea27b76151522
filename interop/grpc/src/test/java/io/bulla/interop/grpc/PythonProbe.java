// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.bulla.testkit.needs.Probe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds a Python that has gRPC: the first of the path, or the system's, for which the system's packages are.
final class PythonProbe implements Probe {

    private static final List<String> NAMES = List.of("python3", "/usr/bin/python3");

    @Override
    public @Nullable String missing() throws IOException, InterruptedException {
        String why = null;
        for (String name : NAMES) {
            why = missing(name);
            if (why == null) {
                return null;
            }
        }
        return why;
    }

    private static @Nullable String missing(String name) throws InterruptedException {
        try {
            Process python = start(List.of(name, "-c", "import grpc"));
            String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = python.waitFor();
            return status == 0
                    ? null
                    : "failed: status=" + status + " said="
                            + said.strip().lines().reduce("", (all, line) -> line);
        } catch (IOException none) {
            return none.getMessage();
        }
    }

    /// Starts that Python.
    ///
    /// @param arguments a program and its arguments
    static Process run(String... arguments) throws IOException, InterruptedException {
        for (String name : NAMES) {
            if (missing(name) == null) {
                List<String> command = new ArrayList<>(List.of(name));
                command.addAll(List.of(arguments));
                return start(command);
            }
        }
        throw new IOException("no python3 with grpc: tried=" + NAMES);
    }

    private static Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }
}
