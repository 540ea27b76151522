// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// How a program ended, and what it printed.
public record ProgramOutput(int status, List<String> lines) {

    public static ProgramOutput of(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> lines = process.inputReader(StandardCharsets.UTF_8).lines().toList();
        return new ProgramOutput(process.waitFor(), lines);
    }

    public String lastLine() {
        return lines.isEmpty() ? "" : lines.getLast();
    }
}
