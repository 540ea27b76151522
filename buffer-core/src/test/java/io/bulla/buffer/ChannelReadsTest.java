// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a builder reads of a channel: of the JDK's own into its memory, of another one aside.
class ChannelReadsTest {

    @TempDir
    private Path folder;

    private FileChannel file(byte[] bytes) throws IOException {
        return FileChannel.open(Files.write(folder.resolve("bytes"), bytes));
    }

    @Test
    void oneReadOfAFileFillsTheRoomThatThereIs() throws IOException {
        byte[] bytes = Bytes.numbered(300);
        try (FileChannel file = file(bytes);
                ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.ofCapacity(source, 256)) {
            for (int i = 0; i < 56; i++) {
                builder.putByte(bytes[i]);
            }
            file.position(56);
            assertEquals(200, builder.readFrom(file, 1000));
            assertEquals(256, builder.byteSize());
            assertEquals(40, builder.readFrom(file, 40));
            assertEquals(4, builder.readFrom(file, 1000));
            assertEquals(-1, builder.readFrom(file, 1000), "its end");
            try (SealedBuffer all = builder.seal()) {
                assertArrayEquals(bytes, all.toByteArray());
            }
        }
    }

    /// Aside no more than 64 KiB go at once.
    @Test
    void fileIsReadWithoutACopyBetween() throws IOException {
        byte[] bytes = Bytes.numbered(100_000);
        try (FileChannel file = file(bytes);
                ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.ofCapacity(source, 200_000)) {
            assertEquals(100_000, builder.readFrom(file, 200_000));
            try (SealedBuffer all = builder.seal()) {
                assertArrayEquals(bytes, all.toByteArray());
            }
        }
    }

    @Test
    void fileThatEndsEarlyLeavesTheBuilderAsItWas() throws IOException {
        byte[] bytes = Bytes.numbered(5000);
        try (FileChannel file = file(bytes);
                ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(source)) {
            EOFException early = assertThrows(EOFException.class, () -> builder.readFully(file, 5001));
            assertEquals("channel ended early: wanted=5001 read=5000", early.getMessage());
            assertEquals(0, builder.byteSize());
            file.position(0);
            try (SealedBuffer all = builder.readFully(file, 5000).seal()) {
                assertArrayEquals(bytes, all.toByteArray());
            }
        }
    }

    /// A channel that says more than it did.
    private record Boasting(int says) implements ReadableByteChannel {

        @Override
        public int read(ByteBuffer target) {
            target.put(new byte[] {1, 2, 3});
            return says;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    @Test
    void whatAForeignChannelPutCounts() throws IOException {
        try (ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(source)) {
            assertEquals(3, builder.readFrom(new Boasting(60), 60));
            assertEquals(-1, builder.readFrom(new Boasting(-1), 60));
            try (SealedBuffer all = builder.seal()) {
                assertArrayEquals(new byte[] {1, 2, 3}, all.toByteArray());
            }
        }
    }
}
