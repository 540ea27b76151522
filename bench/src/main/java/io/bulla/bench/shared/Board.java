// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.shared;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/// A word for each process of a measurement, in a file that all have mapped: each writes its own, the one that
/// measures looks at them now and then. So a measurement ends without a message, and a wake-up, of its own. Times are
/// [System#nanoTime()], which on Linux is one clock for all processes.
final class Board {

    private static final int MOST = 512;

    private final MappedByteBuffer words;

    private Board(MappedByteBuffer words) {
        this.words = words;
    }

    static Board open(Path file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) MOST * Long.BYTES);
            mapped.order(ByteOrder.nativeOrder());
            return new Board(mapped);
        }
    }

    void set(int index, long value) {
        words.putLong(index * Long.BYTES, value);
    }

    long get(int index) {
        return words.getLong(index * Long.BYTES);
    }

    /// Waits, asleep most of the time, until a word is at least so much.
    void await(int index, long least, long pauseNanos, Process writer) throws IOException {
        while (get(index) < least) {
            LockSupport.parkNanos(pauseNanos);
            if (!writer.isAlive()) {
                throw new IOException("process ended: index=" + index + " word=" + get(index) + " awaited=" + least);
            }
        }
    }
}
