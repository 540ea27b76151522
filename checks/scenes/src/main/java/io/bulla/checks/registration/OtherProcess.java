// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.registration;

import io.bulla.fabric.FabricDomain;
import io.bulla.fabric.FabricException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// A process of [FabricPeer]. The domain that it writes into makes progress while this process waits for it.
final class OtherProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final long REST_NANOS = 100_000;

    private final FabricDomain domain;
    private final Process process;
    private final BufferedReader lines;

    private OtherProcess(FabricDomain domain, Process process) {
        this.domain = domain;
        this.process = process;
        this.lines = process.inputReader();
    }

    /// @param name of the endpoint that serves it
    /// @param key that it writes by
    /// @param address of the memory, in this process
    static OtherProcess start(FabricDomain domain, String what, byte[] name, long key, long address, long bytes)
            throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FabricPeer.class.getName(),
                        what,
                        domain.provider().name(),
                        HexFormat.of().formatHex(name),
                        Long.toString(key),
                        Long.toString(target(domain, address)),
                        Long.toString(bytes))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new OtherProcess(domain, process);
    }

    static long target(FabricDomain domain, long address) {
        return domain.provider().byAddress() ? address : 0;
    }

    /// @throws IllegalStateException if it is not so in five minutes, or the process ended before
    void await(String what, BooleanSupplier so) throws FabricException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!so.getAsBoolean()) {
            progress(domain);
            if (System.nanoTime() - end > 0 || !process.isAlive() && !so.getAsBoolean()) {
                throw new IllegalStateException("other process: waited for=[" + what + "] alive=" + process.isAlive());
            }
        }
    }

    /// Leaves the processor to the other one if there is nothing to do.
    static void progress(FabricDomain domain) throws FabricException {
        if (domain.progress() == 0) {
            LockSupport.parkNanos(REST_NANOS);
        }
    }

    /// Lets the fabric work for a while.
    static void progress(FabricDomain domain, Duration time) throws FabricException {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            progress(domain);
        }
    }

    /// What it says next.
    String line() throws IOException {
        await("a line", this::hasLine);
        return lines.readLine();
    }

    /// It goes on.
    void goOn() throws IOException {
        OutputStream to = process.getOutputStream();
        to.write('\n');
        to.flush();
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    private boolean hasLine() {
        try {
            return lines.ready();
        } catch (IOException closed) {
            return false;
        }
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}
