// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.Bytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A view of managed memory is handed to the JDK, which does not take it: checksums, digests, channels.
///
/// netty#15324 (CRC32), netty#16071 (asynchronous files): views of sessions that a thread may close.
class ViewsAreRefusedByTheJdkTest {

    private static final byte[] MESSAGE = Bytes.numbered(27, 100_000);

    @Test
    void viewOfConfinedMemoryIsRefusedOnAnotherThread() throws InterruptedException {
        AtomicInteger refused = new AtomicInteger();
        try (Arena confined = Arena.ofConfined()) {
            ByteBuffer view = confined.allocate(8).asByteBuffer();
            Thread other = Thread.ofPlatform().start(() -> {
                assertThrows(WrongThreadException.class, () -> view.get(0));
                refused.incrementAndGet();
            });
            other.join();
            assertEquals(1, refused.get());
            MemorySegment memory = MemorySegment.ofBuffer(view);
            assertEquals(
                    "memory is confined to one thread: byteSize=8",
                    assertThrows(IllegalArgumentException.class, () -> SealedBuffer.adopt(memory, () -> {}))
                            .getMessage());
        }
    }

    @Test
    void viewsOfTheDefaultSourceAreTaken(@TempDir Path directory) throws Exception {
        try (ArenaSource source = ArenaSource.create()) {
            try (SealedBuffer buffer = Bytes.seal(source, MESSAGE)) {
                CRC32 expected = new CRC32();
                expected.update(MESSAGE);
                CRC32 crc = new CRC32();
                crc.update(view(buffer));
                assertEquals(expected.getValue(), crc.getValue());

                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                digest.update(view(buffer));
                assertArrayEquals(MessageDigest.getInstance("SHA-256").digest(MESSAGE), digest.digest());

                Path file = directory.resolve("file");
                try (FileChannel channel =
                        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                    assertEquals(MESSAGE.length, buffer.iovec().writeTo(channel));
                }
                assertArrayEquals(MESSAGE, Files.readAllBytes(file));

                try (AsynchronousFileChannel channel = AsynchronousFileChannel.open(file, StandardOpenOption.WRITE)) {
                    assertEquals(MESSAGE.length, channel.write(view(buffer), 0).get(20, TimeUnit.SECONDS));
                }
                assertArrayEquals(MESSAGE, Files.readAllBytes(file));
            }
            source.close(Duration.ofSeconds(60));
        }
    }

    private static ByteBuffer view(SealedBuffer buffer) {
        assertEquals(1, buffer.iovec().regionCount());
        return buffer.iovec().asByteBuffers()[0];
    }
}
