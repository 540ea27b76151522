// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pool.SlabSource;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.posix.file.SealedFileWriter;
import io.bulla.posix.fixtures.SendFixture;
import io.bulla.registration.PinBudget;
import io.bulla.registration.Registrations;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/// A file of three buffers, written while system calls fail: it has all bytes, or its writer said that it has not.
final class FileFaults {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int SIZE = 64 << 10;

    private FileFaults() {}

    /// @param plain a source that no device knows
    static void write(Path path, MemorySource plain) throws Exception {
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        SlabSource memory = SlabSource.create();
        FixedBufferTable table = null;
        try {
            table = FixedBufferTable.open(4);
            Registrations registrations = Registrations.of(table, new PinBudget(1L << 30));
            write(path, table, registrations, memory, plain, expected);
            if (!Arrays.equals(expected.toByteArray(), Files.readAllBytes(path))) {
                throw new AssertionError("file has other bytes: path=" + path);
            }
        } finally {
            Files.deleteIfExists(path);
            close(table);
            memory.close(SOON);
        }
    }

    private static void write(
            Path path,
            FixedBufferTable table,
            Registrations registrations,
            MemorySource memory,
            MemorySource plain,
            ByteArrayOutputStream expected)
            throws IOException {
        try (SealedBuffer first = buffer(memory, SIZE, expected);
                SealedBuffer second = buffer(plain, SIZE + 1, expected);
                SealedFileWriter file = SealedFileWriter.create(path, table, registrations::use, SOON)) {
            file.append(first);
            file.append(second);
            expected.writeBytes(new byte[(int) file.align() - expected.size()]);
            try (SealedBuffer third = buffer(memory, SIZE - 1, expected)) {
                file.append(third);
            }
            file.flush();
        } finally {
            close(registrations);
        }
    }

    private static SealedBuffer buffer(MemorySource from, int size, ByteArrayOutputStream expected) {
        byte[] bytes = SendFixture.random(size);
        expected.writeBytes(bytes);
        try (BufferBuilder builder = BufferBuilder.ofCapacity(from, size)) {
            return builder.put(bytes).seal();
        }
    }

    /// What a failed call keeps open is closed with the next one; one call fails.
    private static void close(AutoCloseable each) {
        try {
            if (each != null) {
                each.close();
            }
        } catch (Exception refused) {
            closeAgain(each);
        }
    }

    private static void closeAgain(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception twice) {
            throw new AssertionError("cannot be closed: " + each, twice);
        }
    }
}
