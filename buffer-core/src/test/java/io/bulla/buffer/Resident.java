// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;

/// What [ResidentMemoryTest] runs in a JVM of its own: builds and closes 256 MiB of buffers with chunks of each
/// size, and prints the resident set, in KiB: `chunk floor peak closed trimmed trims`.
final class Resident {

    private static final long TOTAL = 256 << 20;
    private static final byte[] CONTENT = Bytes.numbered(16 << 10);

    private Resident() {}

    public static void main(String... chunkSizes) throws IOException, InterruptedException {
        // the JVM's own growth, of the first use of everything, is no part of what is measured
        MemoryBudget budget = MemoryBudget.unlimited();
        cycle(256 << 10, 32 << 20, budget);
        for (String size : chunkSizes) {
            System.out.println(cycle(Long.parseLong(size), TOTAL, budget));
        }
    }

    private static String cycle(long chunkBytes, long total, MemoryBudget budget)
            throws IOException, InterruptedException {
        ArenaSource source =
                ArenaSource.builder().chunkBytes(chunkBytes).budget(budget).build();
        source.trim();
        await(source, 1);
        long floor = residentKib();
        // three quarters are closed in the order they were built, the rest at the end
        Queue<SealedBuffer> queue = new ArrayDeque<>();
        List<SealedBuffer> kept = new ArrayList<>();
        for (long built = 0; built < total; built += CONTENT.length) {
            SealedBuffer buffer = BufferBuilder.ofCapacity(source, CONTENT.length)
                    .put(CONTENT)
                    .seal();
            (kept.size() * 4L * CONTENT.length < built ? kept : queue).add(buffer);
        }
        long peak = residentKib();
        queue.forEach(SealedBuffer::close);
        kept.forEach(SealedBuffer::close);
        // half a second after the last chunk, its thread trims, and ends
        source.close();
        while (source.openChunks() > 0) {
            Thread.sleep(1);
        }
        long closed = residentKib();
        await(source, 2);
        long trimmed = residentKib();
        return String.format(
                Locale.ROOT, "%d %d %d %d %d %d", chunkBytes, floor, peak, closed, trimmed, source.trims());
    }

    private static void await(ArenaSource source, long trims) throws InterruptedException {
        for (int wait = 0; source.trims() < trims && wait < 12_000; wait++) {
            Thread.sleep(5);
        }
    }

    private static long residentKib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("no VmRSS");
    }
}
