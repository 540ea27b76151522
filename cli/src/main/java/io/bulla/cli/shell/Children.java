// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.shell;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/// Processes that a command starts: JVMs with another program of this jar's. None outlives this, however it ends:
/// they are killed by `close()`, which a shutdown hook calls too. They have to end by themselves when what
/// connects them to this process is gone, for nothing else ends them if it is killed itself.
public final class Children implements AutoCloseable {

    private static final int GRACE_MILLIS = 2000;
    private static final String INTERRUPTED = "interrupted";
    /// By SIGHUP, SIGINT and SIGTERM.
    private static final Set<Integer> ENDED_BY_SIGNAL = Set.of(128 + 1, 128 + 2, 128 + 15);
    private static final String ARCHIVE = "-XX:SharedArchiveFile=";

    /// Of each process of this kind: little memory, a quick start.
    private static final List<String> FLAGS = List.of(
            "-Xms4m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xshare:auto",
            "-Xlog:cds*=off",
            "-Xlog:aot*=off",
            "--enable-native-access=ALL-UNNAMED");

    /// What the JDK says of a helper that was to become the child and was ended by HUP, INT or TERM.
    private static final Pattern SIGNAL_AT_START = Pattern.compile("signal: (1|2|15)\\b");

    // volatile: seen by the thread whose failure is but a consequence
    private static volatile boolean endingBySignal;

    private final int timeoutSeconds;
    private final long deadline;
    private final TrialFolder folder;
    private final Runnable onEnd;
    private final Thread hook;
    private final Thread watch = Thread.ofVirtual().unstarted(this::watch);
    // under the lock
    private final List<Process> processes = new ArrayList<>();
    // volatile: set beside the thread that talks, which then knows why its connections are closed
    private volatile String ended;
    private final CountDownLatch interrupted = new CountDownLatch(1);

    /// @param name of the folder for what they say
    /// @param onEnd closes what connects them to this process; called first, perhaps by another thread
    public Children(String name, int timeoutSeconds, Runnable onEnd) throws IOException {
        this.timeoutSeconds = timeoutSeconds;
        this.deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        this.onEnd = onEnd;
        this.folder = TrialFolder.create(name);
        this.hook = new Thread(this::interrupted, name + "-end");
        Runtime.getRuntime().addShutdownHook(hook);
        watch.start();
    }

    /// Whether a signal ends this process: what fails from now on fails for that reason, which is said elsewhere.
    public static boolean wasInterrupted() {
        return endingBySignal;
    }

    /// A folder that is there until the end.
    public Path folder() {
        return folder.path();
    }

    /// Starts one more.
    ///
    /// @param program of this jar's
    /// @param memory flags that bound it
    /// @param arguments of the program
    /// @throws IOException if it cannot be started, or the end has come
    public Process start(Class<?> program, List<String> memory, List<String> arguments) throws IOException {
        try {
            return tryStart(program, memory, arguments);
        } catch (IOException failure) {
            throw SIGNAL_AT_START.matcher(String.valueOf(failure.getMessage())).find() && interruptedBeside()
                    ? new IOException(ended, failure)
                    : failure;
        }
    }

    private synchronized Process tryStart(Class<?> program, List<String> memory, List<String> arguments)
            throws IOException {
        checkNotEnded();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        // the classes as this JVM keeps them
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith(ARCHIVE))
                .forEach(command::add);
        command.addAll(memory);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(arguments);
        int index = processes.size();
        Process process = new ProcessBuilder(command)
                .redirectOutput(output(index).toFile())
                .redirectError(errors(index).toFile())
                .start();
        processes.add(process);
        return process;
    }

    /// @throws IOException if one has ended, or the end has come
    public synchronized void checkAllAlive() throws IOException {
        checkNotEnded();
        for (int i = 0; i < processes.size(); i++) {
            if (!processes.get(i).isAlive()) {
                throw died(i, null);
            }
        }
    }

    /// The output of one so far.
    public List<String> said(int index) throws IOException {
        return Files.readAllLines(output(index));
    }

    /// The error to throw when one does not do what it should.
    ///
    /// @param failure what was noticed, or `null` if it is known to be dead
    public IOException died(int index, IOException failure) {
        if (ended != null) {
            return new IOException(ended, failure);
        }
        Process process = processes.get(index);
        try {
            if (!process.waitFor(GRACE_MILLIS, TimeUnit.MILLISECONDS)) {
                return new IOException("process " + (index + 1) + " does not answer: " + failure.getMessage(), failure);
            }
            if (ENDED_BY_SIGNAL.contains(process.exitValue()) && interruptedToo()) {
                return new IOException(ended, failure);
            }
            String said = Files.readString(errors(index)) + Files.readString(output(index));
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

    /// A signal from the keyboard reaches every process of the group, and the children are often the first to end of
    /// it: whether this process has got it, too.
    private boolean interruptedToo() throws InterruptedException {
        return interrupted.await(GRACE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /// As above, for a caller that has nothing to wait for but that.
    private boolean interruptedBeside() {
        try {
            return interruptedToo();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// The same error with the reason, if the end has come meanwhile.
    public IOException explained(IOException failure) {
        String why = ended;
        return why == null ? failure : new IOException(why, failure);
    }

    @Override
    public void close() {
        watch.interrupt();
        end("closed");
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException theHookRuns) {
            // it does the same
        }
    }

    private void checkNotEnded() throws IOException {
        if (ended != null) {
            throw new IOException(ended);
        }
    }

    private Path output(int index) {
        return folder.path().resolve("out-" + index);
    }

    private Path errors(int index) {
        return folder.path().resolve("err-" + index);
    }

    private void watch() {
        try {
            TimeUnit.NANOSECONDS.sleep(deadline - System.nanoTime());
            end("timed out: seconds=" + timeoutSeconds);
        } catch (InterruptedException inTime) {
            // as it should be
        }
    }

    /// The shutdown hook.
    private void interrupted() {
        if (ended == null) {
            ended = INTERRUPTED;
        }
        endingBySignal = true;
        interrupted.countDown();
        end(INTERRUPTED);
    }

    private synchronized void end(String why) {
        if (ended == null) {
            ended = why;
        }
        onEnd.run();
        processes.forEach(Process::destroyForcibly);
        try {
            for (Process process : processes) {
                process.waitFor();
            }
            folder.close();
        } catch (InterruptedException ofTheCaller) {
            Thread.currentThread().interrupt();
        } catch (IOException somethingStays) {
            System.err.println("bulla: cannot remove " + folder.path());
        }
    }
}
