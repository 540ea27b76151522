// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.interop.posix.PosixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// The processes of `bulla share`, and the sockets to them. None outlives this, however it ends: they are
/// killed by `close()`, which a shutdown hook calls too, and end by themselves when their socket does.
final class Receivers implements AutoCloseable {

    private static final int LOOK_MILLIS = 50;

    /// What is done with each of them.
    interface Step {
        void with(Link link) throws IOException;
    }

    private final ShareCommand options;
    private final long bytes;
    private final long deadline;
    private final Path folder;
    private final PosixSocket listener;
    private final Thread hook = new Thread(this::end, "bulla-share-end");
    private final Thread watch = Thread.ofVirtual().unstarted(this::watch);
    private final Link[] links;
    // under the lock
    private final List<Process> processes = new ArrayList<>();
    // volatile: set beside the thread that talks, which then knows why its sockets are closed
    private volatile String ended;

    /// @param bytes that each may have to keep
    Receivers(ShareCommand options, long bytes) throws IOException {
        this.options = options;
        this.bytes = bytes;
        this.deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(options.timeoutSeconds);
        this.links = new Link[options.processes];
        this.folder = Files.createTempDirectory("bulla-share");
        try {
            this.listener = PosixSocket.listen(folder.resolve("socket"));
        } catch (Throwable failure) {
            Files.delete(folder);
            throw failure;
        }
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /// Starts them all, and waits until each has connected.
    ///
    /// @throws IOException if one dies, or the time is over
    void start() throws IOException, InterruptedException {
        watch.start();
        for (int i = 0; i < links.length; i++) {
            start(i);
        }
        for (int connected = 0; connected < links.length; ) {
            checkAllAlive();
            if (told(() -> listener.awaitReadable(LOOK_MILLIS))) {
                Link link = new Link(told(listener::accept));
                links[told(link::receiveLong).intValue()] = link;
                connected++;
            }
        }
    }

    /// Does something with each, one after the other.
    ///
    /// @throws IOException if one of them dies, or the time is over
    void each(Step step) throws IOException {
        for (int i = 0; i < links.length; i++) {
            try {
                step.with(links[i]);
            } catch (IOException failure) {
                throw died(i, failure);
            }
        }
    }

    @Override
    public void close() {
        watch.interrupt();
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException theHookRuns) {
            // it does the same
        }
    }

    private interface Talk<T> {
        T with() throws IOException;
    }

    private <T> T told(Talk<T> talk) throws IOException {
        try {
            return talk.with();
        } catch (IOException failure) {
            throw ended == null ? failure : new IOException(ended, failure);
        }
    }

    private synchronized void start(int index) throws IOException {
        if (ended != null) {
            throw new IOException(ended);
        }
        processes.add(new ProcessBuilder(command(index))
                .redirectErrorStream(true)
                .redirectOutput(log(index).toFile())
                .start());
    }

    private List<String> command(int index) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms4m",
                "-Xmx24m",
                "-Xss512k",
                // what is kept outside the heap is limited too
                "-XX:MaxDirectMemorySize=" + (bytes + (32L << 20)),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Xshare:auto",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                ShareReceiver.class.getName(),
                folder.resolve("socket").toString(),
                Integer.toString(index),
                options.send.name(),
                Integer.toString(options.rounds),
                Boolean.toString(index + 1 == options.failProcess));
    }

    private Path log(int index) {
        return folder.resolve("log-" + index);
    }

    private synchronized void checkAllAlive() throws IOException {
        for (int i = 0; i < processes.size(); i++) {
            if (!processes.get(i).isAlive()) {
                throw died(i, null);
            }
        }
    }

    private IOException died(int index, IOException failure) {
        if (ended != null) {
            return new IOException(ended, failure);
        }
        Process process = processes.get(index);
        try {
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                return new IOException("process " + (index + 1) + " does not answer: " + failure.getMessage(), failure);
            }
            String said = Files.exists(log(index)) ? Files.readString(log(index)) : "";
            return new IOException(
                    "process " + (index + 1) + " died: status=" + process.exitValue() + " said=["
                            + said.lines().findFirst().orElse("") + "]",
                    failure);
        } catch (IOException unreadable) {
            return unreadable;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return new IOException("interrupted", interrupted);
        }
    }

    private void watch() {
        try {
            TimeUnit.NANOSECONDS.sleep(deadline - System.nanoTime());
            end("timed out: seconds=" + options.timeoutSeconds);
        } catch (InterruptedException inTime) {
            // as it should be
        }
    }

    private void end() {
        end("interrupted");
    }

    private synchronized void end(String why) {
        if (ended == null) {
            ended = why;
        }
        listener.close();
        for (Link link : links) {
            if (link != null) {
                link.socket().close();
            }
        }
        processes.forEach(Process::destroyForcibly);
        try {
            for (Process process : processes) {
                process.waitFor();
            }
            delete();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (IOException somethingStays) {
            System.err.println("bulla: cannot remove " + folder);
        }
    }

    private void delete() throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
        }
    }
}
