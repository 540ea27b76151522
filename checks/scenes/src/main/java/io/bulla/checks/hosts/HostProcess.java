// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// One life of a node, seen from the check.
public final class HostProcess implements Life {

    private static final int PATIENCE_SECONDS = 120;

    /// Hears what a node says.
    @FunctionalInterface
    public interface Listener {
        /// @param words without the time
        void said(Life by, long nanos, String[] words);
    }

    private final int rank;
    private final int life;
    private final Process process;
    private final Writer input;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    // volatile: any thread asks
    private volatile boolean ended;
    private volatile long killedAt = Long.MAX_VALUE;
    private volatile boolean left;

    /// A node for a check of faults.
    ///
    /// @param before stands before the class path, for nodes with a fault; or an empty text
    /// @param within how a program is started on its host
    /// @param program says `ready` when its node listens
    /// @param arguments of the program
    /// @throws IOException if it cannot be started
    public HostProcess(
            int rank,
            int life,
            String before,
            List<String> within,
            Class<?> program,
            List<String> arguments,
            Listener listener)
            throws IOException {
        this(
                rank,
                life,
                (before.isEmpty() ? "" : before + File.pathSeparator) + System.getProperty("java.class.path"),
                within,
                List.of("-XX:TieredStopAtLevel=1", "-Xmx128m"),
                program,
                arguments,
                listener);
    }

    /// A [DistanceAgent], with the JVM's own compilers: it is measured.
    HostProcess(int rank, List<String> within, List<String> arguments, Listener listener) throws IOException {
        this(
                rank,
                1,
                System.getProperty("java.class.path"),
                within,
                List.of("-Xmx256m"),
                DistanceAgent.class,
                arguments,
                listener);
    }

    private HostProcess(
            int rank,
            int life,
            String classPath,
            List<String> within,
            List<String> options,
            Class<?> program,
            List<String> arguments,
            Listener listener)
            throws IOException {
        this.rank = rank;
        this.life = life;
        List<String> command = new ArrayList<>(within);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                classPath));
        command.addAll(options);
        command.add(program.getName());
        command.addAll(arguments);
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        input = process.outputWriter();
        BufferedReader output = process.inputReader();
        Thread.ofVirtual().start(() -> read(output, listener));
    }

    private void read(BufferedReader output, Listener listener) {
        try (output) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                String[] words = line.split(" ");
                if (words[1].equals("ready")) {
                    ready.countDown();
                } else {
                    listener.said(this, Long.parseLong(words[0]), Arrays.copyOfRange(words, 1, words.length));
                }
            }
        } catch (IOException | RuntimeException broken) {
            if (!ended) {
                System.err.println("hosts: output of a node is lost: node=" + this + " " + broken);
            }
        } finally {
            over.countDown();
            ready.countDown();
        }
    }

    public void awaitReady() throws InterruptedException, IOException {
        if (!ready.await(PATIENCE_SECONDS, TimeUnit.SECONDS) || over.getCount() == 0) {
            throw new IOException("a node does not start: node=" + this + " alive=" + process.isAlive());
        }
    }

    /// @param words what it shall do; nothing happens if it has ended
    public void tell(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        synchronized (input) {
            try {
                input.append(line).append('\n').flush();
            } catch (IOException gone) {
                if (!ended) {
                    System.err.println("hosts: a node is gone: node=" + this + " " + gone.getMessage());
                }
            }
        }
    }

    /// It closes its node, and ends.
    public void leave() {
        left = true;
        tell("end");
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public boolean isOver() {
        return ended || left;
    }

    @Override
    public boolean hasLeft() {
        return left;
    }

    @Override
    public long killedAt() {
        return killedAt;
    }

    /// Without a word to anybody.
    public void kill() throws InterruptedException {
        killedAt = System.nanoTime();
        ended = true;
        process.destroyForcibly().waitFor();
    }

    void stop() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void goOn() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String which) throws IOException, InterruptedException {
        int status = new ProcessBuilder("kill", which, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (status != 0) {
            throw new IOException("cannot signal: node=" + this + " signal=" + which);
        }
    }

    /// All that it has said was heard.
    ///
    /// @return false if it has not ended in two minutes
    public boolean awaitEnd() throws InterruptedException {
        return over.await(PATIENCE_SECONDS, TimeUnit.SECONDS) && process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public String toString() {
        return rank + "/" + life;
    }
}
