// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A builder at the edges: of what its operations take, and of a region.
class BufferBuilderTest {

    private static final int REGION = 64;

    private final ArenaSource memory = ArenaSource.create();

    @AfterEach
    void close() {
        memory.close();
    }

    private static final List<UnaryOperator<BufferBuilder>> PUTS = List.of(
            builder -> builder.putByte((byte) 1),
            builder -> builder.putShort((short) 1),
            builder -> builder.putInt(1),
            builder -> builder.putLong(1),
            builder -> builder.putShort((short) 1, ByteOrder.LITTLE_ENDIAN),
            builder -> builder.putInt(1, ByteOrder.LITTLE_ENDIAN),
            builder -> builder.putLong(1, ByteOrder.LITTLE_ENDIAN),
            builder -> builder.putFloat(1),
            builder -> builder.putFloat(1, ByteOrder.LITTLE_ENDIAN),
            builder -> builder.putDouble(1),
            builder -> builder.putDouble(1, ByteOrder.LITTLE_ENDIAN),
            builder -> builder.putShorts(new short[1], 0, 1),
            builder -> builder.putInts(new int[1], 0, 1),
            builder -> builder.putLongs(new long[1], 0, 1),
            builder -> builder.putString("a", StandardCharsets.UTF_8),
            builder -> builder.put((byte) 1),
            builder -> builder.put(new byte[1], 0, 1),
            builder -> builder.put(MemorySegment.ofArray(new byte[1])),
            builder -> builder.put(Bytes.vector((byte) 1)));

    @Test
    void everyPutGivesItsBuilderBackWithOrWithoutRoom() {
        for (UnaryOperator<BufferBuilder> put : PUTS) {
            try (BufferBuilder builder = BufferBuilder.create(memory)) {
                assertSame(builder, put.apply(builder), "takes memory first");
                assertSame(builder, put.apply(builder), "has room");
            }
        }
    }

    /// A source of regions of 64 bytes, none of which grows.
    private record Small(MemorySource of) implements MemorySource {
        @Override
        public Region allocate(long byteSize) {
            return of.allocate(REGION);
        }
    }

    @Test
    void valueFillsTheRestOfItsRegionAndGoesToTheNextOneIfItIsLonger() {
        Map<Integer, UnaryOperator<BufferBuilder>> ofWidth = Map.of(
                Byte.BYTES, PUTS.get(0), Short.BYTES, PUTS.get(1), Integer.BYTES, PUTS.get(2), Long.BYTES, PUTS.get(3));
        ofWidth.forEach((width, put) -> {
            for (int rest = 0; rest <= Long.BYTES + 1; rest++) {
                try (BufferBuilder builder = BufferBuilder.create(new Small(memory))) {
                    put.apply(builder.put(new byte[REGION - rest]));
                    int regions = rest >= width ? 1 : 2;
                    int room = rest >= width ? rest - width : REGION - width;
                    assertEquals(
                            "BufferBuilder[byteSize=" + (REGION - rest + width) + " regions=" + regions + " room="
                                    + room + "]",
                            builder.toString());
                }
            }
        });
    }

    @Test
    void smallestArgumentsAreTaken() throws IOException {
        try (BufferBuilder one = BufferBuilder.ofCapacity(memory, 1);
                BufferBuilder expecting = BufferBuilder.expecting(memory, 1);
                BufferBuilder tried = BufferBuilder.tryBuild(memory, 1).orElseThrow()) {
            assertEquals("BufferBuilder[byteSize=0 regions=1 room=8]", one.toString());
            assertEquals("BufferBuilder[byteSize=0 regions=0 room=0]", expecting.toString());
            assertEquals("BufferBuilder[byteSize=0 regions=1 room=8]", tried.toString());
            ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(new byte[] {5}));
            assertSame(one, one.readFully(channel, 0));
            assertEquals(1, one.readFrom(channel, 1));
            assertSame(one, one.record(1).putByte((byte) 6).end());
            one.truncate(2);
            try (SealedBuffer sealed = one.seal()) {
                assertEquals(0x0506, BufferReader.of(sealed).getShort());
            }
        }
    }

    @Test
    void capacityOfNothingIsRefused() {
        assertEquals(
                "capacity is at least one byte: capacity=0",
                assertThrows(IllegalArgumentException.class, () -> BufferBuilder.expecting(memory, 0))
                        .getMessage());
    }

    @Test
    void openRecordIsSaidByItsBuilder() {
        try (BufferBuilder builder = BufferBuilder.create(memory).putInt(1)) {
            builder.record(8);
            assertEquals("BufferBuilder[byteSize=12 regions=1 room=0]", builder.toString());
        }
    }
}
