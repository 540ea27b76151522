// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.iovec.IoVec;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.Channels;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Sources of a user.
class MemorySourceTest {

    /// The whole of a user's own allocator: an arena per region.
    private static final class Own implements MemorySource {

        private final AtomicInteger open = new AtomicInteger();

        private record Piece(Arena arena, MemorySegment segment, AtomicInteger open) implements Region {
            @Override
            public void release() {
                arena.close();
                open.decrementAndGet();
            }
        }

        @Override
        public Region allocate(long byteSize) {
            Arena arena = Arena.ofShared();
            open.incrementAndGet();
            return new Piece(arena, arena.allocate(byteSize), open);
        }
    }

    @Test
    void sourceOfTwentyLinesServesEveryOperation() throws IOException {
        Own source = new Own();
        BufferBuilder builder = BufferBuilder.create(source);
        for (int i = 0; i < 1000; i++) {
            builder.putInt(i);
        }
        builder.put(Bytes.numbered(100_000));
        builder.readFully(Channels.newChannel(new ByteArrayInputStream(Bytes.numbered(5000))), 5000);
        builder.truncate(4000 + 50_000);
        SealedBuffer buffer = builder.seal("mine");
        SealedBuffer slice = buffer.slice(4000, 50_000);
        SealedBuffer both = SealedBuffer.concat(slice, slice);
        assertEquals("mine", buffer.tag());
        buffer.close();
        slice.close();
        assertTrue(source.open.get() > 1);
        assertEquals(-1, both.iovec().slice(50_000, 50_000).mismatch(Bytes.vector(Bytes.numbered(50_000))));
        both.close();
        assertEquals(0, source.open.get());
        BufferBuilder.create(source).putByte((byte) 1).close();
        assertEquals(0, source.open.get());
    }

    /// Its sealed bytes lie elsewhere, as in a mapping that the kernel sealed; what was written to is poisoned.
    private static final class Elsewhere implements MemorySource {

        private final Own own = new Own();

        private final class Moved implements Region {

            private final Region written;
            private Region sealed;

            Moved(Region written) {
                this.written = written;
            }

            MemorySegment seal(long used) {
                sealed = own.allocate(Math.max(1, used));
                MemorySegment.copy(written.segment(), 0, sealed.segment(), 0, used);
                written.segment().fill((byte) 0xdd);
                return sealed.segment().asSlice(0, used).asReadOnly();
            }

            @Override
            public MemorySegment segment() {
                return written.segment();
            }

            @Override
            public void release() {
                written.release();
                if (sealed != null) {
                    sealed.release();
                }
            }
        }

        @Override
        public Region allocate(long byteSize) {
            return new Moved(own.allocate(byteSize));
        }

        @Override
        public MemorySegment seal(Region region, long used) {
            return ((Moved) region).seal(used);
        }
    }

    @Test
    void sealedBytesMayLieElsewhere() {
        Elsewhere source = new Elsewhere();
        // several regions, since it never grows one
        SealedBuffer buffer = BufferBuilder.create(source)
                .putLong(42)
                .put(Bytes.numbered(10_000))
                .putLong(43)
                .seal();
        IoVec bytes = buffer.iovec();
        assertTrue(bytes.regionCount() > 1);
        assertEquals(-1, bytes.slice(8, 10_000).mismatch(Bytes.vector(Bytes.numbered(10_000))));
        assertEquals(43, bytes.get(ValueLayout.JAVA_BYTE, 8 + 10_000 + 7));
        assertTrue(bytes.region(0).isReadOnly());
        buffer.close();
        SealedBuffer one = BufferBuilder.create(source).putLong(42).seal();
        assertEquals(1, one.iovec().regionCount());
        assertEquals(42, one.iovec().get(ValueLayout.JAVA_BYTE, 7));
        one.close();
        assertEquals(0, source.own.open.get());
    }

    /// Grows by moving, like realloc.
    private static final class Moving implements MemorySource {

        private final Own own = new Own();
        private int moves;

        @Override
        public Region allocate(long byteSize) {
            return own.allocate(byteSize);
        }

        @Override
        public Region grow(Region region, long byteSize) {
            Region larger = own.allocate(byteSize);
            MemorySegment.copy(region.segment(), 0, larger.segment(), 0, region.byteSize());
            assertNotEquals(region.segment().address(), larger.segment().address());
            region.segment().fill((byte) 0xdd);
            region.release();
            moves++;
            return larger;
        }
    }

    @Test
    void growthMayMoveWhatIsWritten() {
        Moving source = new Moving();
        BufferBuilder builder = BufferBuilder.create(source);
        for (int i = 0; i < 100_000; i++) {
            builder.putByte((byte) i);
        }
        assertTrue(source.moves > 3);
        SealedBuffer buffer = builder.seal();
        assertEquals(1, buffer.iovec().regionCount());
        assertEquals(-1, buffer.iovec().mismatch(Bytes.vector(Bytes.numbered(100_000))));
        buffer.close();
        assertEquals(0, source.own.open.get());
    }

    @Test
    void sealThatFailsGivesTheRegionsBackAndEndsTheBuilder() {
        Own own = new Own();
        MemorySource failing = new MemorySource() {
            @Override
            public Region allocate(long byteSize) {
                return own.allocate(byteSize);
            }

            @Override
            public MemorySegment seal(Region region, long used) {
                throw new IllegalStateException("kernel said no");
            }
        };
        BufferBuilder builder = BufferBuilder.create(failing).putInt(1).put(Bytes.numbered(5000));
        assertEquals(
                "kernel said no",
                assertThrows(IllegalStateException.class, builder::seal).getMessage());
        assertEquals(0, own.open.get());
        assertEquals(
                "builder already given back by a seal that failed: byteSize=5004",
                assertThrows(IllegalStateException.class, () -> builder.putInt(2))
                        .getMessage());
        builder.close();
        assertEquals(0, own.open.get());
    }

    @Test
    void regionThatFailsToGoDoesNotKeepTheOthers() {
        AtomicInteger gone = new AtomicInteger();
        MemorySource failing = byteSize -> new MemorySource.Region() {
            private final MemorySegment segment = Arena.ofAuto().allocate(byteSize);

            @Override
            public MemorySegment segment() {
                return segment;
            }

            @Override
            public void release() {
                if (gone.incrementAndGet() == 1) {
                    throw new IllegalStateException("first one stays");
                }
            }
        };
        SealedBuffer buffer = BufferBuilder.create(failing)
                .putInt(1)
                .put(Bytes.numbered(5000))
                .seal();
        int regions = buffer.iovec().regionCount();
        assertTrue(regions > 1);
        assertEquals(
                "first one stays",
                assertThrows(IllegalStateException.class, buffer::close).getMessage());
        assertEquals(regions, gone.get());
        buffer.close();
        assertEquals(regions, gone.get());
    }
}
