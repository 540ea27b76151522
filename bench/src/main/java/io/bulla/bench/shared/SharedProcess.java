// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A process of the check, seen from the one that kills. It ends when its input does.
final class SharedProcess {

    private static final int PATIENCE_SECONDS = 120;

    private final Process process;
    private final BufferedReader output;
    private final String first;
    private String last = "";

    private SharedProcess(Class<?> main, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Xshare:auto",
                "-Xmx48m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(Arrays.asList(args));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        output = process.inputReader();
        first = main == Lending.class ? line() : "";
    }

    /// Waits until it lends.
    static SharedProcess lender(Path folder) throws IOException {
        return new SharedProcess(Lending.class, folder.toString());
    }

    static SharedProcess borrower(String path) throws IOException {
        return new SharedProcess(Borrowing.class, path);
    }

    /// Where a lender listens.
    String path() {
        return first;
    }

    /// Waits until a borrower has its first message.
    void awaitFirst() throws IOException {
        line();
    }

    /// Has it end by itself, and say what it has seen.
    void finish() throws IOException, InterruptedException {
        process.getOutputStream().close();
        do {
            last = line();
        } while (!last.contains("="));
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("does not end: said=" + last);
        }
        if (process.exitValue() != 0) {
            throw new IOException("ended badly: status=" + process.exitValue() + " said=" + last);
        }
        output.close();
    }

    void kill() {
        process.destroyForcibly();
        try {
            process.waitFor();
            process.getOutputStream().close();
            output.close();
        } catch (IOException | InterruptedException ended) {
            // it is gone
        }
    }

    String said() {
        return last;
    }

    /// A figure that it said at its end.
    long figure(String name) {
        for (String word : last.split(" ")) {
            if (word.startsWith(name + "=")) {
                return Long.parseLong(word.substring(name.length() + 1));
            }
        }
        throw new IllegalStateException("no such figure: name=" + name + " said=" + last);
    }

    private String line() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new IOException("ended without a word: " + process.info());
        }
        return line;
    }
}
