// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// A region reads as Netty's own buffer of the same bytes does.
@ExtendWith(NoOpenHandles.class)
class RegionsByteBufTest {

    private static final int BYTES = 20_000;

    private final byte[] bytes = new byte[BYTES];
    private final ByteBuf netty = Unpooled.wrappedBuffer(bytes);
    private ByteBuf region;

    @BeforeEach
    void seal(MemorySource source) {
        for (int i = 0; i < BYTES; i++) {
            bytes[i] = (byte) (i * 37 + (i >> 8));
        }
        try (BufferBuilder builder = BufferBuilder.ofCapacity(source, BYTES)) {
            SealedBuffer buffer = builder.put(bytes).seal();
            region = new HeldBytes(buffer, null);
        }
    }

    @AfterEach
    void release() {
        region.release();
    }

    @Test
    void numbersAreNettys() {
        for (int at : new int[] {0, 1, 7, 200, BYTES - Long.BYTES}) {
            assertEquals(netty.getByte(at), region.getByte(at));
            assertEquals(netty.getShort(at), region.getShort(at));
            assertEquals(netty.getShortLE(at), region.getShortLE(at));
            assertEquals(netty.getMedium(at), region.getMedium(at));
            assertEquals(netty.getMediumLE(at), region.getMediumLE(at));
            assertEquals(netty.getUnsignedMediumLE(at), region.getUnsignedMediumLE(at));
            assertEquals(netty.getInt(at), region.getInt(at));
            assertEquals(netty.getIntLE(at), region.getIntLE(at));
            assertEquals(netty.getLong(at), region.getLong(at));
            assertEquals(netty.getLongLE(at), region.getLongLE(at));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> region.getLong(BYTES - 7));
    }

    @Test
    void bytesAreNettys() throws IOException {
        assertEquals(netty, region);
        ByteBuf copy = region.copy();
        assertEquals(netty, copy);
        copy.release();
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        region.getBytes(0, stream, BYTES);
        assertArrayEquals(bytes, stream.toByteArray());
        byte[] array = new byte[100];
        region.getBytes(33, array, 10, 90);
        assertEquals(netty.slice(33, 90), Unpooled.wrappedBuffer(array, 10, 90));
        ByteBuf target = Unpooled.buffer(BYTES);
        region.readBytes(target);
        assertEquals(netty, target);
        ByteBuffer part = ByteBuffer.allocate(50);
        region.getBytes(60, part);
        assertEquals(netty.nioBuffer(60, 50), part.flip());
        assertThrows(IndexOutOfBoundsException.class, () -> region.getBytes(BYTES - 1, new byte[2]));
    }

    @Test
    void nothingWrites() {
        assertFalse(region.isWritable());
        assertFalse(region.hasMemoryAddress());
        assertThrows(ReadOnlyBufferException.class, () -> region.setLong(0, 1));
        assertThrows(ReadOnlyBufferException.class, () -> region.setBytes(0, new byte[1]));
        assertThrows(ReadOnlyBufferException.class, () -> region.capacity(5));
        assertThrows(ReadOnlyBufferException.class, () -> region.nioBuffer().put((byte) 1));
        assertThrows(RuntimeException.class, () -> region.writerIndex(0).writeByte(1));
        assertEquals(netty, region.writerIndex(BYTES));
    }
}
