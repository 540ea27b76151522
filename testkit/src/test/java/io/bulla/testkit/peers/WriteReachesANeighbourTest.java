// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.NoOpenHandles;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A view that leads to more than it should: to the bytes beside a slice, or to bytes that are shared by now.
///
/// netty#12919, netty#14093, vert.x#4517: the duplicate of a slice is writable beyond it. folly ba1a4c1bc: a
/// queue writes into a tail that it shares. folly 187bbbd0e: a parser edits received buffers in place.
@ExtendWith(NoOpenHandles.class)
class WriteReachesANeighbourTest {

    private static final byte[] MESSAGE = Bytes.numbered(9, 300);

    @Test
    void duplicateOfALimitedViewReachesTheNextFrame() {
        byte[] frames = MESSAGE.clone();
        ByteBuffer frame = ByteBuffer.wrap(frames).limit(100);
        frame.duplicate().clear().put(150, (byte) -1);
        assertEquals(-1, frames[150]);
    }

    @Test
    void viewOfASliceEndsWhereTheSliceEndsAndIsReadOnly(MemorySource source) {
        try (SealedBuffer whole = Bytes.seal(source, MESSAGE);
                SealedBuffer slice = whole.slice(100, 50)) {
            ByteBuffer view = slice.iovec().asByteBuffers()[0].duplicate().clear();
            assertEquals(50, view.capacity());
            assertThrows(ReadOnlyBufferException.class, () -> view.put(0, (byte) -1));
            assertThrows(IllegalArgumentException.class, () -> view.limit(51));
            MemorySegment region = slice.iovec().region(0);
            assertThrows(IndexOutOfBoundsException.class, () -> region.asSlice(0, 51));
            assertThrows(IllegalArgumentException.class, () -> region.set(ValueLayout.JAVA_BYTE, 0, (byte) -1));
            assertThrows(IllegalArgumentException.class, () -> region.fill((byte) -1));
            assertThrows(IndexOutOfBoundsException.class, () -> slice.slice(0, 51));
            assertThrows(IndexOutOfBoundsException.class, () -> slice.iovec().slice(10, 41));
            assertThrows(IndexOutOfBoundsException.class, () -> slice.iovec().get(ValueLayout.JAVA_BYTE, 50));
            assertArrayEquals(MESSAGE, Bytes.of(whole));
        }
    }

    @Test
    void vectorOverWritableMemoryIsReadOnly() {
        byte[] own = MESSAGE.clone();
        IoVec vector = IoVec.of(MemorySegment.ofArray(own), MemorySegment.ofArray(own));
        for (ByteBuffer view : vector.asByteBuffers()) {
            assertTrue(view.isReadOnly());
            assertThrows(ReadOnlyBufferException.class, view::array);
        }
        assertTrue(vector.region(1).isReadOnly());
        assertTrue(vector.region(1).heapBase().isEmpty());
    }

    @Test
    void channelThatKeepsItsTargetCannotWriteAfterTheSeal(MemorySource source) throws IOException {
        Keeping channel = new Keeping();
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, MESSAGE.length)) {
            builder.readFully(channel, MESSAGE.length);
            try (SealedBuffer buffer = builder.seal()) {
                assertTrue(!channel.kept.isEmpty());
                for (ByteBuffer kept : channel.kept) {
                    for (int i = 0; i < kept.capacity(); i++) {
                        kept.put(i, (byte) -1);
                    }
                }
                assertArrayEquals(MESSAGE, Bytes.of(buffer));
            }
        }
    }

    @Test
    void streamThatSealsWhileItIsReadWritesNothing(MemorySource source) {
        BufferBuilder builder = BufferBuilder.create(source).put(MESSAGE);
        List<SealedBuffer> sealed = new ArrayList<>();
        ReadableByteChannel channel = Channels.newChannel(new InputStream() {
            @Override
            public int read() {
                if (sealed.isEmpty()) {
                    sealed.add(builder.seal());
                }
                return -1 & 0xff;
            }
        });
        assertEquals(
                "builder already sealed: byteSize=" + MESSAGE.length,
                assertThrows(IllegalStateException.class, () -> builder.readFrom(channel, 10))
                        .getMessage());
        try (SealedBuffer buffer = sealed.getFirst()) {
            assertArrayEquals(MESSAGE, Bytes.of(buffer));
        }
    }

    @Test
    void fileIsReadWithoutACopyAside(MemorySource source) throws IOException {
        Path file = Files.createTempFile("bulla", null);
        try {
            Files.write(file, Bytes.numbered(2, 300_000));
            try (FileChannel channel = FileChannel.open(file);
                    BufferBuilder builder = BufferBuilder.ofCapacity(source, 300_000)) {
                assertEquals(300_000, builder.readFrom(channel, 300_000), "in one call, so in place");
            }
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void channelThatSaysItReadMoreThanItDidAddsNothing(MemorySource source) throws IOException {
        ReadableByteChannel boasting = new Keeping() {
            @Override
            public int read(ByteBuffer target) {
                super.read(target);
                return 1_000_000;
            }
        };
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, MESSAGE.length)) {
            assertEquals(60, builder.readFrom(boasting, 60));
            assertEquals(60, builder.byteSize());
        }
    }

    /// Remembers where it was told to put the bytes.
    private static class Keeping implements ReadableByteChannel {

        private final List<ByteBuffer> kept = new ArrayList<>();
        private final ByteBuffer incoming = ByteBuffer.wrap(MESSAGE);

        @Override
        public int read(ByteBuffer target) {
            kept.add(target.duplicate().clear());
            int before = incoming.position();
            while (incoming.hasRemaining() && target.hasRemaining()) {
                target.put(incoming.get());
            }
            return incoming.position() - before;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
