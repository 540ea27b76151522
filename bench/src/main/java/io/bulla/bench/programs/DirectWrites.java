// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import com.sun.nio.file.ExtendedOpenOption;
import io.bulla.bench.numbers.Medians;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.MemoryRegistrationLookup;
import io.bulla.posix.file.FileFigures;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.posix.file.SealedFileWriter;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.stream.IntStream;

/// Writes a mebibyte again and again past the page cache, and prints the microseconds of the whole process's
/// processors for one. Argument: `cached`, registered once; `per-send`, registered for each write; `copy`, copied
/// into registered memory first; `plain`, without registration, all from slabs of small pages; `bare`, by the JDK's
/// `FileChannel` alone, one write after another: the floor.
public final class DirectWrites {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SIZE = 1 << 20;
    private static final int WRITES = 64;
    private static final int FILES = 109;
    private static final int WARM_UP = 100;
    private static final int ALIGN = 4096;

    private final String way;
    private final SlabSource memory = SlabSource.builder()
            .supplier(new SmallPages())
            .idle(Duration.ofHours(1))
            .build();
    private final FixedBufferTable table = FixedBufferTable.open(16);
    private final Registrations registrations = Registrations.of(table, new PinBudget(1L << 30));
    private final MemorySegment source = Arena.global().allocate(SIZE, 64).fill((byte) 'x');

    private DirectWrites(String way) throws Exception {
        this.way = way;
    }

    public static void main(String... args) throws Exception {
        DirectWrites writes = new DirectWrites(args[0]);
        Path directory = Files.createTempDirectory("bulla");
        try {
            double[] micros = new double[FILES];
            for (int i = 0; i < FILES; i++) {
                Path file = directory.resolve("file");
                micros[i] = writes.file(file);
                Files.delete(file);
            }
            System.out.println(Medians.of(
                    IntStream.range(WARM_UP, FILES).mapToDouble(i -> micros[i]).toArray()));
        } finally {
            Files.delete(directory);
            writes.registrations.close();
            writes.memory.close(PATIENCE);
        }
    }

    private double file(Path path) throws Exception {
        return way.equals("bare") ? bare(path) : sealed(path);
    }

    private double bare(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(
                path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, ExtendedOpenOption.DIRECT)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(SIZE + ALIGN).alignedSlice(ALIGN);
            MemorySegment.ofBuffer(bytes.limit(SIZE)).copyFrom(source);
            long before = ProcessorTime.nanos();
            for (int i = 0; i < WRITES; i++) {
                file.write(bytes.clear().limit(SIZE));
                if (bytes.hasRemaining()) {
                    throw new IOException("written in part: left=" + bytes.remaining());
                }
            }
            return (ProcessorTime.nanos() - before) / 1000.0 / WRITES;
        }
    }

    private double sealed(Path path) throws Exception {
        MemoryRegistrationLookup marks = way.equals("plain") ? (_, _) -> null : registrations::use;
        try (SealedFileWriter file = SealedFileWriter.create(path, table, marks, PATIENCE);
                SealedBuffer buffer = buffer()) {
            long before = ProcessorTime.nanos();
            for (int i = 0; i < WRITES; i++) {
                if (way.equals("copy")) {
                    try (SealedBuffer copy = buffer()) {
                        file.append(copy);
                    }
                } else {
                    file.append(buffer);
                }
                if (way.equals("per-send")) {
                    forget();
                }
            }
            check(file.figures());
            return (ProcessorTime.nanos() - before) / 1000.0 / WRITES;
        }
    }

    private void check(FileFigures figures) {
        long expected = (long) WRITES * SIZE;
        if ((way.equals("plain") ? figures.plain() : figures.registered()) != expected) {
            throw new IllegalStateException("bytes went another way: " + figures + " " + registrations.lastRefusal());
        }
    }

    private SealedBuffer buffer() {
        try (BufferBuilder builder = BufferBuilder.ofCapacity(memory, SIZE)) {
            return builder.put(source).seal();
        }
    }

    private void forget() throws Exception {
        registrations.trim();
        registrations.trim();
        while (table.filled() > 0) {
            table.progress(10);
        }
    }
}
