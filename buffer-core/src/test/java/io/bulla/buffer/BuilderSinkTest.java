// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/// What writes to a stream or a channel writes into a builder, and reads out of what was sealed.
class BuilderSinkTest {

    private static final ArenaSource SOURCE = ArenaSource.create();

    @Test
    void libraryThatWritesToStreamsNeedsNoArrayBetween() throws Exception {
        Object message = Map.of("job", List.of(1, 2, 3), "name", "x".repeat(5000));
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            try (ObjectOutputStream objects = new ObjectOutputStream(new GZIPOutputStream(builder.asOutputStream()))) {
                objects.writeObject(message);
            }
            try (SealedBuffer buffer = builder.seal();
                    InputStream stream = buffer.iovec().asInputStream();
                    ObjectInputStream objects = new ObjectInputStream(new GZIPInputStream(stream))) {
                assertEquals(message, objects.readObject());
            }
        }
    }

    @Test
    void bytesArriveInOrderWhicheverWay() throws IOException {
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            OutputStream stream = builder.asOutputStream();
            WritableByteChannel channel = builder.asChannel();
            stream.write(0x101);
            stream.write(new byte[] {9, 2, 3, 9}, 1, 2);
            ByteBuffer some = ByteBuffer.allocateDirect(4)
                    .put(new byte[] {4, 5, 9, 9})
                    .flip()
                    .limit(2);
            assertEquals(2, channel.write(some));
            assertEquals(2, some.position());
            builder.putByte((byte) 6);
            assertEquals(
                    1, channel.write(ByteBuffer.wrap(new byte[] {9, 7, 9}, 1, 1).asReadOnlyBuffer()));
            try (SealedBuffer buffer = builder.seal()) {
                byte[] found = new byte[7];
                buffer.iovec().copyTo(0, MemorySegment.ofArray(found), 7);
                assertArrayEquals(new byte[] {1, 2, 3, 4, 5, 6, 7}, found);
                assertEquals(
                        "builder already sealed: byteSize=7",
                        assertThrows(IllegalStateException.class, () -> stream.write(1))
                                .getMessage());
                assertThrows(IllegalStateException.class, () -> channel.write(ByteBuffer.allocate(1)));
                assertThrows(IllegalStateException.class, () -> stream.write(new byte[1], 0, 1));
            }
        }
    }

    @Test
    void closedSinkRefusesAndTheBuilderGoesOn() throws IOException {
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            WritableByteChannel channel = builder.asChannel();
            assertTrue(channel.isOpen());
            channel.close();
            assertFalse(channel.isOpen());
            assertThrows(ClosedChannelException.class, () -> channel.write(ByteBuffer.allocate(1)));
            assertThrows(
                    IndexOutOfBoundsException.class,
                    () -> builder.asOutputStream().write(new byte[2], 1, 2));
            builder.putByte((byte) 1);
            assertEquals(1, builder.byteSize());
        }
    }

    @Test
    void closedStreamTakesNoByte() throws IOException {
        try (BufferBuilder builder = BufferBuilder.create(SOURCE)) {
            OutputStream stream = builder.asOutputStream();
            stream.close();
            assertThrows(ClosedChannelException.class, () -> stream.write(1));
            assertThrows(ClosedChannelException.class, () -> stream.write(new byte[] {1, 2}, 0, 2));
            assertEquals(0, builder.byteSize());
        }
    }
}
