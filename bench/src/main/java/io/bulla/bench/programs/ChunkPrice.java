// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The resident memory that a source with chunks of a given size needs beyond what it had before, while one
/// thread builds and closes messages of 1 KiB, one at a time: the other side of a cheap buffer.
///
/// Prints bytes, the median of samples taken under load.
public final class ChunkPrice {

    private static final int BODY = 1024;
    private static final int SAMPLES = 101;
    private static final int BUFFERS_PER_SAMPLE = 20_000;
    private static final Path STATUS = Path.of("/proc/self/status");

    private ChunkPrice() {}

    public static void main(String[] args) throws IOException {
        byte[] body = new byte[BODY];
        double[] grown = new double[SAMPLES];
        long checksum = warmUp(body);
        System.gc();
        long floor = resident();
        try (ArenaSource source =
                ArenaSource.builder().chunkBytes(Long.parseLong(args[0])).build()) {
            for (int sample = 0; sample < SAMPLES; sample++) {
                checksum += build(source, body);
                grown[sample] = Math.max(0, resident() - floor);
            }
        }
        if (checksum != (long) BODY * BUFFERS_PER_SAMPLE * (SAMPLES + 10)) {
            throw new IllegalStateException("bytes got lost: checksum=" + checksum);
        }
        System.out.println(Medians.of(grown));
    }

    private static long warmUp(byte[] body) {
        long bytes = 0;
        for (int i = 0; i < 10; i++) {
            try (ArenaSource source = ArenaSource.builder().build()) {
                bytes += build(source, body);
                source.trim();
            }
        }
        return bytes;
    }

    private static long build(ArenaSource source, byte[] body) {
        long bytes = 0;
        for (int i = 0; i < BUFFERS_PER_SAMPLE; i++) {
            try (SealedBuffer buffer =
                    BufferBuilder.ofCapacity(source, BODY).put(body).seal()) {
                bytes += buffer.byteSize();
            }
        }
        return bytes;
    }

    static long resident() throws IOException {
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith("VmRSS:")) {
                return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("no VmRSS in " + STATUS);
    }
}
