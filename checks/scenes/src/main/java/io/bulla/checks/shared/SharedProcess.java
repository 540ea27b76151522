// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.shared;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/// A process of the check, seen from the one that kills. It ends when its input does.
final class SharedProcess {

    private static final int PATIENCE_SECONDS = 120;
    private static final String NO_MORE = "\0";

    private final Process process;
    private final Writer input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    // of a lender: when the last lease of a borrower was closed, by its pid
    private final Map<Long, Long> ended = new ConcurrentHashMap<>();
    private String last = "";

    private SharedProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        input = process.outputWriter();
        BufferedReader output = process.inputReader();
        Thread.ofVirtual().start(() -> read(output));
    }

    /// Lends; [#path] waits until it does.
    ///
    /// @param before what the program is started by, or nothing
    static SharedProcess lender(List<String> before, Path folder, Object... options) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.addAll(java(Lending.class));
        command.add(folder.toString());
        Arrays.stream(options).map(String::valueOf).forEach(command::add);
        return new SharedProcess(command);
    }

    static SharedProcess borrower(String path, String... options) throws IOException {
        List<String> command = java(Borrowing.class);
        command.add(path);
        command.addAll(Arrays.asList(options));
        return new SharedProcess(command);
    }

    /// Any program.
    static SharedProcess of(List<String> before, String... command) throws IOException {
        List<String> all = new ArrayList<>(before);
        all.addAll(Arrays.asList(command));
        return new SharedProcess(all);
    }

    private static List<String> java(Class<?> main) {
        return new ArrayList<>(List.of(
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
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Where a lender listens.
    String path() throws IOException, InterruptedException {
        return await(line -> line.startsWith("/"));
    }

    /// Waits until a borrower has its first message.
    void awaitFirst() throws IOException, InterruptedException {
        await("borrows"::equals);
    }

    /// Tells it something that it answers with figures.
    SharedProcess ask(String what) throws IOException, InterruptedException {
        tell(what);
        return awaitFigures();
    }

    /// Waits for its next line of figures.
    SharedProcess awaitFigures() throws IOException, InterruptedException {
        last = await(line -> line.contains("="));
        return this;
    }

    void tell(String what) throws IOException {
        input.write(what + "\n");
        input.flush();
    }

    /// Has it end by itself, and say what it has seen.
    void finish() throws IOException, InterruptedException {
        input.close();
        // answers that were not waited for come before
        String line = awaitFigures().last;
        while (line != null) {
            last = line;
            line = nextFigures();
        }
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("does not end: said=" + last);
        }
        // a lender that was killed before it had greeted
        boolean refused = process.exitValue() == 2 && figure("messages", 1) == 0;
        if (process.exitValue() != 0 && !refused && figure("wrong", 0) == 0) {
            throw new IOException("ended badly: status=" + process.exitValue() + " said=" + last);
        }
    }

    /// Waits until it has ended.
    ///
    /// @return its status
    int status() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("does not end: pid=" + pid());
        }
        return process.exitValue();
    }

    /// Ends it by SIGKILL.
    ///
    /// @return when, as `System.nanoTime()` of any process
    long kill() {
        long when = System.nanoTime();
        process.destroyForcibly();
        try {
            process.waitFor();
            input.close();
        } catch (IOException | InterruptedException ended) {
            // it is gone
        }
        return when;
    }

    /// Sends it a signal that does not end it.
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(pid()))
                .inheritIO()
                .start()
                .waitFor();
    }

    /// When a lender had closed the last lease of a borrower that has ended.
    Map<Long, Long> ended() {
        return ended;
    }

    String said() {
        return last;
    }

    /// A figure of the last line of figures.
    long figure(String name) {
        long value = figure(name, Long.MIN_VALUE);
        if (value == Long.MIN_VALUE) {
            throw new IllegalStateException("no such figure: name=" + name + " said=" + last);
        }
        return value;
    }

    private long figure(String name, long none) {
        for (String word : last.split(" ")) {
            if (word.startsWith(name + "=")) {
                return Long.parseLong(word.substring(name.length() + 1));
            }
        }
        return none;
    }

    private String await(Predicate<String> wanted) throws IOException, InterruptedException {
        String line = next();
        while (line != null && !wanted.test(line)) {
            line = next();
        }
        if (line == null) {
            throw new IOException("ended without a word: " + process.info());
        }
        return line;
    }

    private String nextFigures() throws IOException, InterruptedException {
        String line = next();
        while (line != null && !line.contains("=")) {
            line = next();
        }
        return line;
    }

    private String next() throws IOException, InterruptedException {
        String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new IOException("says nothing: pid=" + pid() + " waited=" + PATIENCE_SECONDS + "s said=" + last);
        }
        if (line.equals(NO_MORE)) {
            lines.add(NO_MORE);
            return null;
        }
        return line;
    }

    private void read(BufferedReader output) {
        try (output) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.startsWith("ended ")) {
                    String[] words = line.split(" ");
                    ended.put(Long.parseLong(words[1]), Long.parseLong(words[2]));
                } else {
                    lines.add(line);
                }
            }
        } catch (IOException killed) {
            // its pipe is closed
        } finally {
            lines.add(NO_MORE);
        }
    }
}
