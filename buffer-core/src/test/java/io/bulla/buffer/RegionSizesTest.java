// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// How much a builder asks its source for: a few larger and larger regions, or at once what it knows.
class RegionSizesTest {

    private static final long MIB = 1 << 20;

    /// Notes what it is asked for, and gives just that.
    private static final class Asked implements MemorySource {

        private final List<Long> allocated = new ArrayList<>();
        private final List<Long> grown = new ArrayList<>();
        private int open;

        @Override
        public Region allocate(long byteSize) {
            allocated.add(byteSize);
            open++;
            MemorySegment memory = MemorySegment.ofArray(new byte[(int) byteSize]);
            return new Region() {
                @Override
                public MemorySegment segment() {
                    return memory;
                }

                @Override
                public void release() {
                    open--;
                }
            };
        }

        @Override
        public Region grow(Region region, long byteSize) {
            grown.add(byteSize);
            return null;
        }
    }

    private final Asked source = new Asked();

    private void assertAsked(BufferBuilder builder, Consumer<BufferBuilder> writes, Long... sizes) {
        try (builder) {
            writes.accept(builder);
            assertEquals(List.of(sizes), source.allocated);
            builder.seal().close();
        }
        assertEquals(0, source.open);
    }

    private static void fill(BufferBuilder builder, long bytes) {
        for (long i = 0; i < bytes; i++) {
            builder.putByte((byte) i);
        }
    }

    @Test
    void regionsOfSingleValuesGrowFourfoldUpToAMebibyte() {
        assertAsked(
                BufferBuilder.create(source),
                builder -> fill(builder, 256 + 1024 + 4096 + 16384 + 65536 + 262_144 + MIB + 1),
                256L,
                1024L,
                4096L,
                16384L,
                65536L,
                262_144L,
                MIB,
                MIB);
        assertEquals(List.of(1024L, 4096L, 16384L, 65536L, 262_144L, MIB), source.grown.subList(0, 6));
    }

    @Test
    void capacityIsThatOfTheFirstRegion() {
        assertAsked(BufferBuilder.ofCapacity(source, 5000), builder -> fill(builder, 5001), 5000L, 20_000L);
        assertEquals(List.of(20_000L), source.grown);
    }

    @Test
    void arrayOfValuesHasARegionOfItsSize() {
        assertAsked(BufferBuilder.create(source), builder -> builder.putLongs(new long[1000], 0, 1000), 8000L);
    }

    @Test
    void largeArrayOfValuesHasRegionsOfAMebibyte() {
        assertAsked(BufferBuilder.create(source), builder -> builder.putInts(new int[300_000], 0, 300_000), MIB, MIB);
    }

    @Test
    void shortArrayOfValuesHasTheFirstRegion() {
        assertAsked(BufferBuilder.create(source), builder -> builder.putShorts(new short[9], 0, 9), 256L);
    }

    @Test
    void bytesHaveARegionOfTheirSize() {
        assertAsked(BufferBuilder.create(source), builder -> builder.put(new byte[100_000]), 100_000L);
    }

    @Test
    void manyBytesHaveRegionsOfAMebibyte() {
        assertAsked(BufferBuilder.create(source), builder -> builder.put(new byte[(int) (2 * MIB + 1)]), MIB, MIB, MIB);
    }

    @Test
    void restOfBytesBehindAFullRegionHasOneOfItsSize() {
        assertAsked(BufferBuilder.expecting(source, 100), builder -> builder.put(new byte[5100]), 5100L);
        source.allocated.clear();
        assertAsked(BufferBuilder.ofCapacity(source, 100), builder -> builder.put(new byte[5100]), 100L, 5000L);
        source.allocated.clear();
        assertAsked(
                BufferBuilder.ofCapacity(source, 100),
                builder -> builder.putByte((byte) 1).put(new byte[5099]),
                100L,
                5000L);
    }

    @Test
    void arrayOfValuesForWhoseFirstOneThereIsRoomAsksForTheRest() {
        assertAsked(
                BufferBuilder.ofCapacity(source, 256),
                builder -> {
                    fill(builder, 252);
                    builder.putInts(new int[1000], 0, 1000);
                },
                256L,
                3996L);
    }

    @Test
    void growthIsAskedForWhatIsThereAndWhatComes() {
        assertAsked(
                BufferBuilder.ofCapacity(source, 100),
                builder -> {
                    fill(builder, 50);
                    builder.record(5000).put(new byte[5000], 0, 5000).end();
                },
                100L,
                5000L);
        assertEquals(List.of(5050L), source.grown);
    }
}
