// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.internal.BuilderAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A source that fails at its n-th call, for every n: a put or a truncate leaves the builder as before, or a close
/// gives everything back.
class FailingRegionTest {

    enum Growth {
        NEVER,
        IN_PLACE,
        BY_MOVING
    }

    /// Fails at one call, and is in order before and after it.
    private static final class Failing implements MemorySource {

        private final Growth growth;
        private int failAt;
        private final List<Piece> open = new ArrayList<>();
        private int calls;

        Failing(Growth growth, int failAt) {
            this.growth = growth;
            this.failAt = failAt;
        }

        void failingAfter(int more) {
            failAt = calls + more;
        }

        void call() {
            if (++calls == failAt) {
                throw new InternalError("at call " + calls);
            }
        }

        private final class Piece implements Region {

            private final MemorySegment whole = Arena.ofAuto().allocate(1 << 16);
            private long size;

            Piece(long size) {
                this.size = size;
                open.add(this);
            }

            @Override
            public MemorySegment segment() {
                call();
                return whole.asSlice(0, size);
            }

            @Override
            public void release() {
                assertTrue(open.remove(this), "given back twice");
                call();
            }
        }

        @Override
        public Region allocate(long byteSize) {
            call();
            return new Piece(Math.min(byteSize, 64));
        }

        @Override
        public Region grow(Region region, long byteSize) {
            call();
            Piece piece = (Piece) region;
            if (growth == Growth.NEVER || byteSize > 2000) {
                return null;
            }
            if (growth == Growth.IN_PLACE) {
                piece.size = byteSize;
                return piece;
            }
            Piece moved = new Piece(byteSize);
            MemorySegment.copy(piece.whole, 0, moved.whole, 0, piece.size);
            piece.whole.fill((byte) 0xdd);
            open.remove(piece);
            return moved;
        }
    }

    private static final List<Consumer<BufferBuilder>> STEPS = List.of(
            builder -> builder.putLong(1),
            builder -> builder.put(Bytes.numbered(50)),
            builder -> builder.putInt(2),
            builder -> builder.put(Bytes.numbered(2000)),
            builder -> builder.putInt(3),
            builder -> builder.put(Bytes.vector(Bytes.numbered(700))));

    private static byte[] expected() {
        try (ArenaSource source = ArenaSource.create()) {
            BufferBuilder builder = BufferBuilder.create(source);
            STEPS.forEach(step -> step.accept(builder));
            try (SealedBuffer buffer = builder.seal()) {
                byte[] bytes = new byte[(int) buffer.byteSize()];
                buffer.iovec().copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
                return bytes;
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void putThatFailsMayBeRepeated(Growth growth) {
        byte[] expected = expected();
        int failures = 0;
        for (int failAt = 1; ; failAt++) {
            Failing source = new Failing(growth, failAt);
            BufferBuilder builder = BufferBuilder.create(source);
            for (Consumer<BufferBuilder> step : STEPS) {
                long before = builder.byteSize();
                try {
                    step.accept(builder);
                } catch (InternalError e) {
                    failures++;
                    assertEquals(before, builder.byteSize(), "failed at call " + failAt);
                    step.accept(builder);
                }
            }
            boolean untouched = source.calls < failAt;
            source.failAt = 0;
            if (untouched) {
                assertTrue(failures > 8, "failures=" + failures);
                builder.close();
                return;
            }
            SealedBuffer buffer = builder.seal();
            assertEquals(-1, buffer.iovec().mismatch(Bytes.vector(expected)), "failed at call " + failAt);
            buffer.close();
            assertEquals(0, source.open.size(), "failed at call " + failAt);
        }
    }

    @ParameterizedTest
    @EnumSource
    void truncateThatFailsIsDoneAllTheSame(Growth growth) {
        byte[] expected = expected();
        for (int failAt = 1; ; failAt++) {
            Failing source = new Failing(growth, 0);
            BufferBuilder builder = BufferBuilder.create(source);
            STEPS.forEach(step -> step.accept(builder));
            source.failingAfter(failAt);
            int failed = 0;
            try {
                builder.truncate(60);
            } catch (InternalError e) {
                failed++;
            }
            source.failAt = 0;
            assertEquals(60, builder.byteSize(), "failed at call " + failAt);
            builder.putLong(0x3c3d3e3f_40414243L);
            SealedBuffer buffer = builder.seal();
            assertEquals(60, buffer.iovec().mismatch(Bytes.vector(expected)), "the first 60 bytes are as before");
            assertEquals(68, buffer.byteSize());
            buffer.close();
            assertEquals(0, source.open.size());
            if (failed == 0) {
                assertTrue(failAt > 1, "a region that fails to go says so");
                return;
            }
        }
    }

    @Test
    void regionThatDidNotSayWhereItGrewToIsAskedAgainByWhoReadsIt() {
        Failing source = new Failing(Growth.BY_MOVING, 0);
        try (BufferBuilder builder = BufferBuilder.create(source).put(Bytes.numbered(60))) {
            source.failingAfter(2);
            assertThrows(InternalError.class, () -> builder.putLong(1));
            MemorySegment written = BuilderAccess.of(BufferBuilder.class).writtenFrom(builder, 0);
            assertEquals(60, written.byteSize());
            assertEquals(-1, written.mismatch(MemorySegment.ofArray(Bytes.numbered(60))));
        }
    }

    @Test
    void regionThatDidNotSayWhereItGrewToIsAskedAgainAndNotGrownAgain() {
        Failing source = new Failing(Growth.BY_MOVING, 0);
        try (BufferBuilder builder = BufferBuilder.create(source).put(Bytes.numbered(60))) {
            source.failingAfter(2);
            assertThrows(InternalError.class, () -> builder.putLong(1));
            int before = source.calls;
            // just what it grew to
            builder.record(1024 - 60).put(new byte[964], 0, 964).end();
            assertEquals(before + 1, source.calls);
            assertEquals("BufferBuilder[byteSize=1024 regions=1 room=0]", builder.toString());
        }
    }

    @Test
    void emptyRegionThatFailsToGoEndsTheSealAndNotTheBuilder() {
        Failing source = new Failing(Growth.NEVER, 0);
        BufferBuilder builder =
                BufferBuilder.create(source).put(Bytes.numbered(128)).putByte((byte) 1);
        builder.truncate(128);
        assertEquals(3, source.open.size());
        source.failingAfter(1);
        assertThrows(InternalError.class, builder::seal);
        assertEquals(2, source.open.size());
        try (SealedBuffer buffer = builder.seal()) {
            assertEquals(-1, buffer.iovec().mismatch(Bytes.vector(Bytes.numbered(128))));
        }
        assertEquals(0, source.open.size());
    }

    @Test
    void sealOrCloseThatFailsGivesEveryRegionBack() {
        for (boolean seals : new boolean[] {true, false}) {
            int failAt = 1;
            for (boolean failed = true; failed; failAt++) {
                Failing source = new Failing(Growth.NEVER, 0);
                BufferBuilder builder = BufferBuilder.create(source);
                STEPS.forEach(step -> step.accept(builder));
                source.failingAfter(failAt);
                failed = false;
                try {
                    if (seals) {
                        builder.seal().close();
                    } else {
                        builder.close();
                    }
                } catch (InternalError e) {
                    failed = true;
                }
                assertEquals(0, source.open.size(), "failed at call " + failAt);
                assertThrows(IllegalStateException.class, () -> builder.putInt(1));
            }
            assertTrue(failAt > 10, "calls=" + failAt);
        }
    }
}
