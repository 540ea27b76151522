// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The process of the other clients, as the server sees it: each second it says what its clients have got. */
final class ClientProcess implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 10;

    private final int clients;
    private volatile long open;
    private volatile long wrong;
    private volatile long received;
    private volatile boolean closed;
    private Process process;

    ClientProcess(int clients) {
        this.clients = clients;
    }

    void start(int port) throws IOException {
        if (clients == 0) {
            return;
        }
        process = new ProcessBuilder(List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-XX:+UseSerialGC",
                        "-Xmx2g",
                        "--sun-misc-unsafe-memory-access=allow",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Clients.class.getName(),
                        "" + port,
                        "" + clients))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Thread.ofPlatform().daemon().name("clients").start(this::read);
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ");
                open = Long.parseLong(words[0]);
                wrong = Long.parseLong(words[1]);
                received = Long.parseLong(words[2]);
            }
        } catch (IOException e) {
            // it has ended, or this is closed
        }
        open = 0;
        if (!closed) {
            int exit = process.onExit().join().exitValue();
            System.err.println("websocket-feed: the clients' process has ended: exit=" + exit);
        }
    }

    /** How many of them are connected. */
    long open() {
        return open;
    }

    /** Messages of all of them that were no message, or out of order. */
    long wrong() {
        return wrong;
    }

    /** Messages that all of them have got. */
    long received() {
        return received;
    }

    @Override
    public void close() {
        closed = true;
        if (process == null) {
            return;
        }
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
