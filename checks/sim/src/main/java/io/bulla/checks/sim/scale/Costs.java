// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.scale;

import io.bulla.checks.sim.world.World;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/// What things take in a simulated job, from a file that says where each number comes from.
///
/// @param callNanos of a processor, for each frame that is read or written, with its share of the loop's turn
/// @param readPicos of a processor, for each byte that is read and lands
/// @param writePicos of a processor, for each byte that is written
/// @param handlerNanos of a processor, for each turn of a handlers' thread
/// @param wakeNanos until an idle processor begins with what there is for it
/// @param latencyNanos one way between two machines
/// @param bytesPerSecond of a machine's link, each way
/// @param socketBytes that a connection takes without being read
record Costs(
        long callNanos,
        long readPicos,
        long writePicos,
        long handlerNanos,
        long wakeNanos,
        long latencyNanos,
        long bytesPerSecond,
        int socketBytes) {

    private static final long PICOS = 1_000;

    /// @throws IOException if the file cannot be read, or lacks a number
    static Costs read(Path file) throws IOException {
        Properties numbers = new Properties();
        try (Reader text = Files.newBufferedReader(file)) {
            numbers.load(text);
        }
        return new Costs(
                number(numbers, "call.nanos"),
                number(numbers, "read.picos.per.byte"),
                number(numbers, "write.picos.per.byte"),
                number(numbers, "handler.nanos"),
                number(numbers, "wake.nanos"),
                number(numbers, "latency.nanos"),
                number(numbers, "link.bytes.per.second"),
                Math.toIntExact(number(numbers, "socket.bytes")));
    }

    private static long number(Properties numbers, String name) throws IOException {
        String text = numbers.getProperty(name);
        if (text == null) {
            throw new IOException("no such cost: name=" + name);
        }
        try {
            return Long.parseLong(text.strip().replace("_", ""));
        } catch (NumberFormatException notOne) {
            throw new IOException("not a number: name=" + name + " value=" + text, notOne);
        }
    }

    /// The same where all nodes are on one machine: no link, and no way.
    Costs onOneMachine() {
        return new Costs(callNanos, readPicos, writePicos, handlerNanos, wakeNanos, 0, Long.MAX_VALUE, socketBytes);
    }

    /// Of a processor, for a read.
    long read(int bytes) {
        return callNanos + bytes * readPicos / PICOS;
    }

    /// Of a processor, for a write.
    long write(int bytes) {
        return callNanos + bytes * writePicos / PICOS;
    }

    /// For which a link is taken.
    long link(int bytes) {
        return (long) (bytes * (double) World.SECOND / bytesPerSecond);
    }
}
